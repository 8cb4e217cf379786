from __future__ import annotations

import json
from typing import Any

import pytest

from deg_client import Problem
from deg_client.problems import problems_of


@pytest.mark.parametrize(
    ("said", "problems"),
    [
        ({"detail": [{"loc": "/schema", "msg": "no type"}]}, [Problem("/schema", "no type")]),
        (
            {"detail": [{"loc": ["body", "questions", "a/b", 0], "msg": "no", "type": "x"}]},
            [Problem("/questions/a~1b/0", "no")],
        ),
        ({"detail": {"error_type": "usage", "message": "no"}}, [Problem("", "no")]),
        ({"detail": "Too many choices."}, [Problem("", "Too many choices.")]),
        (
            {"error": {"message": "no", "type": "x", "param": "input[0]", "code": None}},
            [Problem("input[0]", "no")],
        ),
        ({"error": {"message": "no", "param": None}}, [Problem("", "no")]),
        ({"detail": []}, []),
        (["no"], [Problem("", "['no']")]),
    ],
)
def test_each_form_of_an_error_is_read(said: Any, problems: list[Problem]) -> None:
    assert list(problems_of(json.dumps(said).encode())) == problems


def test_a_long_text_is_cut() -> None:
    assert len(problems_of(b"x" * 10_000)[0].msg) == 200
