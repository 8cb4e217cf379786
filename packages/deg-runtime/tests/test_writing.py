from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings, strategies as st

from deg_model import DegModel
from deg_model.decode_graph import Decoder
from deg_runtime import Engine
from deg_runtime.trace import Trace
from deg_runtime.writing import Page, Text, write_texts
from deg_schema import Constraints, FieldPlan, FillError, Generated, Options, search_pattern

KNOWN = (("/topic", "delivery"), ("/urgent", True), ("/due", None))
SHORT = Options(max_new_tokens=12)


@pytest.fixture(scope="module")
def model(make_engine: Callable[..., Engine]) -> DegModel:
    return make_engine().model


def text_of(pointer: str = "/reply", **limits: object) -> Text:
    field = FieldPlan((pointer[1:],), "generate", "string", constraints=Constraints(**limits))
    return Text(field, pointer)


def page(*texts: Text, context: str = "2026 東京", options: Options = SHORT) -> Page:
    return Page(context, KNOWN, texts, options)


def one(model: DegModel, page: Page) -> Generated | FillError:
    ((written,),) = write_texts(model, [page])
    return written


def test_a_text_keeps_to_its_limits_and_its_budget(model: DegModel) -> None:
    written = one(model, page(text_of(pattern="^a+$", max_length=2)))
    assert isinstance(written, Generated)
    assert written.text in ("a", "aa")
    # the token that ends a text counts
    assert written.num_tokens == len(written.text) + 1


@given(
    st.sampled_from([None, "^a+$", "東", r"^\d{2,4}$", r"^(?!.*a)\S+$", "^[^a-z]*é"]),
    st.integers(0, 6),
    st.integers(6, 20),
    st.integers(8, 20),
    st.integers(0, 9),
)
@settings(max_examples=25, deadline=None)
def test_every_text_is_valid(
    model: DegModel, pattern: str | None, least: int, most: int, budget: int, seed: int
) -> None:
    options = Options(max_new_tokens=budget, temperature=1.5 * (seed % 2), seed=seed)
    limits = text_of(min_length=least, max_length=most, pattern=pattern)
    written = one(model, page(limits, options=options))
    if isinstance(written, FillError):
        assert pattern == r"^\d{2,4}$"
        assert least > 4
        return
    assert least <= len(written.text) <= most
    assert written.num_tokens <= budget
    assert pattern is None or search_pattern(pattern, written.text)


@pytest.mark.parametrize("temperature", [0.0, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_text_is_the_same_alone_and_in_company(
    make_engine: Callable[..., Engine], dtype: torch.dtype, temperature: float
) -> None:
    model = make_engine(dtype=dtype).model
    options = replace(SHORT, temperature=temperature, seed=5)
    texts = [text_of("/a"), text_of("/b", min_length=20), text_of("/c", pattern="[0-9]")]
    pages = [
        page(*texts, options=options),
        page(text_of("/d"), context="naïve", options=options),
        page(*texts[::-1], context="text " * 30, options=options),
    ]
    together = write_texts(model, pages)
    for whole, written in zip(pages, together, strict=True):
        alone = [one(model, replace(whole, texts=(text,))) for text in whole.texts]
        assert written == alone


@pytest.mark.parametrize("family", ["llama", "qwen3.5", "lfm2"])
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_texts_are_the_same_over_static_buffers(
    make_engine: Callable[..., Engine],
    family: str,
    temperature: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = make_engine(family=family, dtype=torch.bfloat16).model
    options = replace(SHORT, temperature=temperature, seed=5)
    texts = [text_of(f"/{name}", max_length=3 * i) for i, name in enumerate("abcd", 1)]
    pages = [page(*texts, options=options), page(*texts[:2], context="text", options=options)]
    monkeypatch.setattr("deg_runtime.writing._MOST_ROWS", 3)
    expected, made = write_texts(model, pages), []
    monkeypatch.setattr("deg_model.writing._HAS_GRAPHS", ("cpu",))
    monkeypatch.setattr(
        "deg_model.writing.Decoder", lambda *parts: made.append(Decoder(*parts)) or made[-1]
    )
    assert write_texts(model, pages) == expected
    assert write_texts(model, pages) == expected
    assert len(made) == 1


def test_more_texts_than_there_are_rows_are_written_all_the_same(
    model: DegModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = page(*(text_of(f"/{name}") for name in "abcde"))
    expected = write_texts(model, [texts])
    monkeypatch.setattr("deg_runtime.writing._MOST_ROWS", 2)
    assert write_texts(model, [texts]) == expected
    monkeypatch.setattr("deg_runtime.writing.free_bytes", lambda _: 0)
    trace = Trace()
    assert write_texts(model, [texts], trace=trace) == expected
    # with no memory to spare there is one at a time
    assert trace.writing[0].steps == trace.writing[0].tokens


def test_pieces_join_to_the_text_and_are_whole_characters(model: DegModel) -> None:
    pieces: dict[tuple[int, str], str] = {}

    def keep(number: int, pointer: str, piece: str) -> None:
        assert piece
        pieces[number, pointer] = pieces.get((number, pointer), "") + piece

    pages = [page(text_of("/a", pattern="東"), text_of("/b", min_length=8)), page(text_of("/a"))]
    written = write_texts(model, pages, on_piece=keep)
    for number, (texts, whole) in enumerate(zip(written, pages, strict=True)):
        for text, generated in zip(whole.texts, texts, strict=True):
            assert isinstance(generated, Generated)
            assert pieces.get((number, text.pointer), "") == generated.text


def test_what_cannot_be_written_fails_alone_and_before_anything_is_read(model: DegModel) -> None:
    trace = Trace()
    texts = page(text_of("/a", min_length=9000), text_of("/b", pattern=r"(a)\1"))
    (errors,) = write_texts(model, [texts], trace=trace)
    assert [error.pointer for error in errors if isinstance(error, FillError)] == ["/a", "/b"]
    assert trace.writing[0].rows == trace.writing[0].steps == 0
    ((refused, written),) = write_texts(model, [page(text_of("/a", min_length=9000), text_of())])
    assert isinstance(refused, FillError)
    assert written == one(model, page(text_of()))


def test_a_budget_of_its_own_overrides_that_of_the_request(model: DegModel) -> None:
    text = text_of(min_length=3, pattern="^[a-z]*$")
    own = Text(replace(text.field, max_tokens=3), text.pointer)
    written = one(model, page(own))
    assert isinstance(written, Generated)
    assert written.num_tokens <= 3
    assert len(written.text) >= 3


def test_a_trace_counts_rows_steps_and_tokens(model: DegModel) -> None:
    trace = Trace()
    (written,) = write_texts(model, [page(text_of("/a"), text_of("/b"))], trace=trace)
    counts = [text.num_tokens for text in written if isinstance(text, Generated)]
    (writing,) = trace.writing
    assert (writing.rows, writing.steps, writing.tokens) == (2, max(counts), sum(counts))


@pytest.mark.parametrize("family", ["llama", "qwen3.5", "lfm2"])
def test_a_text_that_goes_on_from_the_document_is_that_of_a_read_of_its_own(
    make_engine: Callable[..., Engine], family: str
) -> None:
    model, trace = make_engine(family=family, dtype=torch.bfloat16).model, Trace()
    anew = page(text_of("/a"), text_of("/b"))
    read = replace(anew, state=model.read_many(["another", anew.context])[1].state)
    assert write_texts(model, [read, read, anew], trace=trace) == write_texts(model, [anew] * 3)
    write_texts(model, [read], trace=trace)
    write_texts(model, [anew], trace=trace)
    # what is known is read in any case
    own, whole = (writing.context_tokens for writing in trace.writing[1:])
    assert 0 < own == whole - len(model.encode(anew.context).ids)


def test_no_texts_need_no_writer(model: DegModel) -> None:
    assert write_texts(model, []) == []
    assert write_texts(model, [Page("a", (), (), SHORT)]) == [[]]
