"""What is wrong with the parts of a command line, all of it before the model is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from deg_schema import Problem, RequestError, SchemaError

__all__ = ["find_problems"]


def find_problems(check: Callable[[], object], origin: str) -> Iterator[Problem]:
    """Yield the problems that *check* raises, each at its place in what *origin* names."""
    try:
        check()
    except (RequestError, SchemaError) as error:
        for problem in error.problems:
            loc = problem.loc.removeprefix("/") if origin.startswith("--") else problem.loc
            yield Problem(origin + loc, problem.msg)
