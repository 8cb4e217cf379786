from __future__ import annotations

from hypothesis import given, strategies as st

from deg_client.events import EventLines, ServerSentEvent

STREAM = (
    b': the connection lives\n\nevent: field\ndata: {"text": "caf\xc3\xa9"}\n\n'
    b"data: one\r\ndata:two\r\n\r\nevent: nothing\n\nid: 7\nevent: text\ndata: \n\nevent: half"
)
TOLD = [
    ServerSentEvent("field", '{"text": "café"}'.encode()),
    ServerSentEvent("message", b"one\ntwo"),
    ServerSentEvent("text", b""),
]


def test_events_are_read() -> None:
    assert list(EventLines().feed(STREAM)) == TOLD


@given(st.lists(st.integers(0, len(STREAM))))
def test_it_does_not_matter_where_the_pieces_end(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in zip(places, places[1:], strict=False)]
    lines = EventLines()
    assert [event for piece in pieces for event in lines.feed(piece)] == TOLD
