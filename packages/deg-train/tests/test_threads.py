from __future__ import annotations

from random import Random

from deg_train.generate.threads import in_chat, in_thread
from deg_train.records import Record

RECORD = Record("Bill of\nAnn Lee\n", {}, {"who": "Ann Lee"}, {"/who": ((8, 15),)}, "made")


def test_a_quoted_document_has_a_mark_before_each_line() -> None:
    made = [in_thread(RECORD, Random(seed)).context for seed in range(20)]
    assert any("> Bill of\n> Ann Lee\n" in text for text in made)
    assert all("Bill of" in text and "Ann Lee" in text for text in made)


def test_a_document_over_two_lines_is_forwarded_as_it_stands() -> None:
    record = Record("Ann\nLee", {}, {"who": "Ann\nLee"}, {"/who": ((0, 7),)}, "made")
    for seed in range(10):
        thread = in_thread(record, Random(seed))
        ((start, end),) = thread.spans["/who"]
        assert thread.context[start:end] == "Ann\nLee"


def test_a_chat_has_lines_before_and_behind() -> None:
    for seed in range(10):
        chat = in_chat(RECORD, Random(seed))
        ((start, end),) = chat.spans["/who"]
        assert chat.context[start:end] == "Ann Lee"
        assert chat.context.index("Bill of") > 10
        assert len(chat.context) > end + 5
