"""Removes each rule of deg_schema in turn and runs the tests that reach it: one must fail.

python tools/mutation_check.py [MODULE ...] [--tests FILE ...]

A rule is a statement that reports or raises, a message that a check returns, or a verdict of
`False` in a check of a format or a type. A first run of the tests notes which of them reach which
rule. Then a child process for each rule takes it out of the running code and runs those tests, so
nothing on the disk changes. What is printed at the end survives: no test misses it.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import importlib
import inspect
import io
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

MODULES = (
    "compile arrays compilation leaves constraints choices unions shapes refs keywords patterns "
    "formats json_values checks request response validate"
).split()
# whose `return False` is a rule of its own
VERDICTS = {"formats", "choices"}
REPORTERS = {"report", "report_number", "fault", "_stop", "append"}
TESTS = Path(__file__).parent.parent / "packages" / "deg-schema" / "tests"
# they reach nearly every rule, each by far more cases than it takes
LEFT_OUT = [
    f"--ignore={TESTS / name}" for name in ("test_suite_schemas.py", "test_any_document.py")
]
QUIET = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header"]
MOST_TESTS = 400
SECONDS = 20


def main() -> None:
    """Print every rule that no test misses, and exit with 1 where there is one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--tests", nargs="*", default=[str(TESTS)])
    arguments = parser.parse_args()
    modules = [importlib.import_module(f"deg_schema.{name}") for name in arguments.modules]
    recorder = Recorder(modules)
    builtins.__dict__["mutation_hit"] = recorder.hit
    for module in modules:
        swap(module, Rules(module).visit(tree_of(module)))
    with contextlib.redirect_stdout(io.StringIO()) as output:
        if pytest.main([*arguments.tests, *LEFT_OUT, *QUIET], plugins=[recorder]):
            sys.exit(f"the tests fail before anything is removed:\n{output.getvalue()[-2000:]}")
    survivors, num_rules = [], 0
    for module in modules:
        rules = Rules(module)
        rules.visit(tree_of(module))
        for number, text in enumerate(rules.found):
            num_rules += 1
            tests = sorted(
                recorder.tests[module.__name__, number], key=lambda test: recorder.seconds[test]
            )
            if not is_missed(module, number, tests[:MOST_TESTS]):
                survivors.append(f"{text} ({len(tests)} tests reach it)")
                print(survivors[-1], flush=True)
    print(f"{num_rules} rules, {len(survivors)} can be removed unseen")
    sys.exit(bool(survivors))


class Recorder:
    """A plugin that notes which test reaches which rule."""

    def __init__(self, modules: Sequence[ModuleType]) -> None:
        self.modules = modules
        self.tests: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.current = ""

    def hit(self, module: str, number: int) -> None:
        """Note that the test that runs now reaches a rule."""
        if self.current:
            self.tests[module, number].add(self.current)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note which test runs."""
        self.current = item.nodeid
        # what an earlier test left in a cache would hide that this one reaches the rule too
        for module in self.modules:
            clear_caches(module)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long a test took."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration


class Rules(ast.NodeTransformer):
    """Puts a note before each rule of a module, or takes the one with a number out."""

    def __init__(self, module: ModuleType, removed: int | None = None) -> None:
        self.module = module
        self.removed = removed
        self.found: list[str] = []

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Find what reports."""
        call = node.value
        if isinstance(call, ast.Yield):
            return self._rule(node, ast.Pass())
        if isinstance(call, ast.Call):
            function = call.func
            name = getattr(function, "attr", getattr(function, "id", ""))
            is_list = name == "append" and "problems" not in ast.unparse(function)
            if name in REPORTERS and not is_list:
                return self._rule(node, ast.Pass())
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Find what adds problems."""
        is_rule = ast.unparse(node.target) == "problems"
        return self._rule(node, ast.Pass()) if is_rule else node

    def visit_Raise(self, node: ast.Raise) -> Any:
        """Find what raises."""
        return node if node.exc is None else self._rule(node, ast.Pass())

    def visit_Return(self, node: ast.Return) -> Any:
        """Find what returns a message, or a verdict."""
        value = node.value
        if isinstance(value, ast.Constant) and value.value is False:
            is_rule = self.module.__name__.rpartition(".")[2] in VERDICTS
            return self._rule(node, ast.Return(ast.Constant(True))) if is_rule else node
        return self._rule(node, ast.Return(ast.Constant(None))) if _is_message(value) else node

    def _rule(self, node: ast.stmt, without: ast.stmt) -> list[ast.stmt]:
        number = len(self.found)
        line = " ".join(ast.unparse(node).split())[:90]
        self.found.append(f"{self.module.__name__}:{node.lineno}: {line}")
        if self.removed is not None:
            return [ast.copy_location(without, node) if number == self.removed else node]
        note = ast.parse(f"mutation_hit({self.module.__name__!r}, {number})").body[0]
        return [ast.copy_location(note, node), node]


def _is_message(value: ast.expr | None) -> bool:
    """Say whether what a check returns tells what is wrong, in one of its branches at least."""
    if isinstance(value, ast.IfExp):
        return _is_message(value.body) or _is_message(value.orelse)
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str) and " " in value.value
    return isinstance(value, ast.JoinedStr)


def tree_of(module: ModuleType) -> ast.Module:
    """Parse the source of *module*."""
    return ast.parse(inspect.getsource(module))


def swap(module: ModuleType, tree: ast.Module) -> None:
    """Give the functions of *module* the code that *tree* says, in place."""
    code = compile(
        ast.fix_missing_locations(tree), module.__file__ or "", "exec", dont_inherit=True
    )
    changed = dict(_functions(code))
    for owner in [module, *(v for v in vars(module).values() if inspect.isclass(v))]:
        for value in list(vars(owner).values()):
            function = inspect.unwrap(value) if callable(value) else value
            function = getattr(function, "__func__", getattr(function, "fget", function))
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                function.__code__ = changed.get(function.__code__.co_qualname, function.__code__)
    clear_caches(module)


def clear_caches(module: ModuleType) -> None:
    """Forget what cached functions of *module* returned."""
    for value in list(vars(module).values()):
        getattr(value, "cache_clear", lambda: None)()


def _functions(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant.co_qualname, constant
            yield from _functions(constant)


def is_missed(module: ModuleType, number: int, tests: list[str]) -> bool:
    """Say whether one of *tests* fails without the rule."""
    if not tests:
        return False
    child = os.fork()
    if child == 0:
        # without a limit a test may run without end, which is noticed too
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        swap(module, Rules(module, number).visit(tree_of(module)))
        root = TESTS.parent.parent.parent
        os._exit(bool(pytest.main([*(str(root / test) for test in tests), *QUIET])))
    return os.waitpid(child, 0)[1] != 0


if __name__ == "__main__":
    main()
