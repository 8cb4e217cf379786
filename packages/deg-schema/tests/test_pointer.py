import pytest
from hypothesis import given, strategies as st

from deg_schema.errors import InvalidPointer
from deg_schema.pointer import Pointer


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", ()), ("/", ("",)), ("/a/0", ("a", "0")), ("/a~1b~0c", ("a/b~c",)), ("/~01", ("~1",))],
)
def test_parse(text: str, tokens: tuple[str, ...]) -> None:
    assert Pointer.parse(text).tokens == tokens


def test_parse_rejects_a_missing_slash() -> None:
    with pytest.raises(InvalidPointer, match="'a/b' does not start with '/'"):
        Pointer.parse("a/b")


@pytest.mark.parametrize("text", ["/a~", "/~2"])
def test_parse_rejects_an_unknown_escape(text: str) -> None:
    with pytest.raises(InvalidPointer, match="neither '~0' nor '~1'"):
        Pointer.parse(text)


@given(st.lists(st.text()))
def test_parse_reads_back_what_str_writes(tokens: list[str]) -> None:
    pointer = Pointer(tuple(tokens))
    assert Pointer.parse(str(pointer)) == pointer


def test_lookup_walks_objects_and_arrays() -> None:
    assert (Pointer() / "items" / 1).lookup({"items": ["a", "b"]}) == "b"


@pytest.mark.parametrize("token", ["-1", "01", "2", "-", "", "9" * 5000, "x"])
def test_lookup_takes_only_indices_of_the_array(token: str) -> None:
    with pytest.raises(LookupError):
        Pointer((token,)).lookup(["a", "b"])


def test_lookup_stops_at_a_scalar() -> None:
    with pytest.raises(LookupError):
        Pointer(("a", "b")).lookup({"a": "text"})
