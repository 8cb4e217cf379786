import pickle

import pytest

from deg_schema.errors import (
    DegSchemaError,
    FillError,
    PlanError,
    Problem,
    RequestError,
    SchemaError,
)


def test_a_problem_says_where_and_what() -> None:
    assert str(Problem("/a", "is wrong")) == "/a: is wrong"
    assert str(Problem("", "is wrong")) == "(root): is wrong"


@pytest.mark.parametrize("error", [SchemaError, RequestError, PlanError])
def test_an_error_spells_every_problem(error: type[SchemaError]) -> None:
    raised = error([Problem("/a", "is wrong"), Problem("/b", "is worse")])
    assert str(raised) == "/a: is wrong\n/b: is worse"
    assert isinstance(raised, (DegSchemaError, ValueError))


def test_errors_survive_pickling() -> None:
    problems = (Problem("/a", "is wrong"),)
    assert pickle.loads(pickle.dumps(SchemaError(problems))).problems == problems
    assert pickle.loads(pickle.dumps(FillError("no value", "/a"))).pointer == "/a"
