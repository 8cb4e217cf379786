from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, strategies as st

from deg_runtime.findings import visible
from deg_runtime.page import render_page
from deg_schema import render_context

SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Order",
    "properties": {
        "order": {"type": "string", "description": "Which order"},
        "due": {"type": "string", "format": "date"},
        "phone": {"type": ["string", "null"]},
        "team": {"oneOf": [{"const": "sales"}, {"const": "help", "description": "broken things"}]},
        "mood": {"type": "integer", "minimum": 0, "maximum": 2, "x-levels": {"0": "calm"}},
        "urgent": {"type": "boolean"},
    },
    "required": ["phone"],
}
TEXT = "Order A-1047, due 3 May 2026.\n  Regards"
WORDS = {"/order": "A-1047", "/due": "3 May 2026"}
HOSTILE = "</main><script>alert(1)</script><img src=x onerror='a(\"1\")'>&amp;\x1b[31m"


class Reader(HTMLParser):
    """Keeps every tag with its attributes, and the text of each class and tag."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[tuple[str, str]] = []
        self.texts: list[tuple[list[tuple[str, str]], str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((list(self.open), data))

    def text(self, tag: str, kind: str | None = None) -> str:
        return "".join(
            data
            for place, data in self.texts
            if any(name == tag and kind in (None, classes) for name, classes in place)
        )


def _page(engine: Any, context: Any, schema: Mapping[str, Any], words: Mapping[str, str]) -> Reader:
    response = engine(words).fill(context, schema)
    return Reader(render_page(response, schema, render_context(context), title="order.txt"))


def test_the_page_shows_the_whole_document(fake_engine: Any) -> None:
    assert _page(fake_engine, TEXT, SCHEMA, WORDS).text("main") == TEXT


def test_each_place_is_marked_and_linked_to_its_card(fake_engine: Any) -> None:
    page = _page(fake_engine, TEXT, SCHEMA, WORDS)
    assert page.text("a", "mark f0") == "A-1047"
    assert page.text("a", "mark f1") == "3 May 2026"
    anchors = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    links = {(attrs["href"] or "")[1:] for tag, attrs in page.tags if tag == "a"}
    assert links == {"c0", "c1", "s0", "s1"}
    assert links <= anchors


def test_places_that_overlap_are_all_marked(fake_engine: Any) -> None:
    words = {"/order": "A-1047, due 3 May 2026", "/due": "3 May 2026", "/phone": "1047, due 3"}
    page = _page(fake_engine, TEXT, SCHEMA, words)
    assert page.text("main") == TEXT
    marks = [attrs for tag, attrs in page.tags if (attrs.get("class") or "").startswith("mark")]
    shared = [attrs["style"] or "" for attrs in marks if (attrs["class"] or "").count(" f") > 1]
    assert shared
    assert all("linear-gradient" in style for style in shared)


def test_each_field_has_a_card(fake_engine: Any) -> None:
    page = _page(fake_engine, TEXT, SCHEMA, WORDS)
    cards = [attrs["class"] for tag, attrs in page.tags if tag == "article"]
    kinds = ["read", "read", "missing", "decided", "decided", "decided"]
    assert cards == [f"card {kind} f{number}" for number, kind in enumerate(kinds)]
    assert page.text("h2") == "orderduephoneteammoodurgent"
    shown = page.text("aside")
    for words in ("Which order", "2026-05-03", "3 May 2026", "nothing in the document", "calm"):
        assert words in shown


def test_a_long_list_of_options_is_folded(fake_engine: Any) -> None:
    schema = {"type": "object", "properties": {"c": {"enum": [f"option {n}" for n in range(40)]}}}
    page = _page(fake_engine, TEXT, schema, {})
    assert "35 more" in page.text("summary")
    assert "option 39" in page.text("details")


def test_the_page_loads_and_runs_nothing(fake_engine: Any) -> None:
    page = _page(fake_engine, TEXT, SCHEMA, WORDS)
    assert not {"script", "link", "img", "iframe", "base"} & {tag for tag, _ in page.tags}
    assert "url(" not in page.text("style")
    assert "@import" not in page.text("style")
    policy = [attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_hostile_words_stay_words(fake_engine: Any) -> None:
    properties = {
        HOSTILE: {"type": "string", "description": HOSTILE},
        "c": {"oneOf": [{"const": HOSTILE, "description": HOSTILE}, {"const": "b"}]},
        "d": {"type": ["string", "null"], "title": HOSTILE},
    }
    schema = {"type": "object", "title": HOSTILE, "properties": properties}
    response = fake_engine({"/d": HOSTILE}).fill(HOSTILE, schema) | {"model": HOSTILE}
    page = Reader(render_page(response, schema, HOSTILE, title=HOSTILE))
    assert not {"script", "img"} & {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert page.text("main") == page.text("h1") == visible(HOSTILE)


@given(st.text())
def test_any_document_is_shown_whole(text: str) -> None:
    response = {"model": "m", "value": {}, "meta": {}, "usage": {"prompt_tokens": 0}}
    schema = {"type": "object", "properties": {}}
    page = render_page(response, schema, text, title="t")
    assert Reader(page).text("main") == visible(text)


@pytest.mark.parametrize("context", ["", " \n", {"order": "A-1047"}, ["A-1047"]])
def test_any_sort_of_context_is_shown(fake_engine: Any, context: Any) -> None:
    assert _page(fake_engine, context, SCHEMA, WORDS).text("main") == render_context(context)
