from __future__ import annotations

import pickle

import pytest

from deg_client import DeadlineExceeded, DegClientError, InvalidSetting, NotSent, Problem
from deg_client.errors import __all__ as names


@pytest.mark.parametrize("name", [name for name in names if name != "Problem"])
def test_every_error_is_of_one_tree_and_can_be_pickled(name: str) -> None:
    kind = getattr(__import__("deg_client"), name)
    error = kind("no", status=422, problems=[Problem("/a", "b")], request_id="r", retry_after=1.0)
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, DegClientError)
    assert type(again) is kind
    assert vars(again) == vars(error)
    assert str(again) == "no"


def test_errors_are_what_they_are_in_the_standard_library_too() -> None:
    assert issubclass(NotSent, ValueError)
    assert issubclass(InvalidSetting, ValueError)
    assert issubclass(DeadlineExceeded, TimeoutError)


def test_a_problem_at_the_root_says_so() -> None:
    assert str(Problem("", "no context")) == "(root): no context"
