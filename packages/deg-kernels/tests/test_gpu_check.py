from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

TOOLS = Path(__file__).parents[3] / "tools"
if not TOOLS.is_dir():
    pytest.skip("the tools lie in the repository alone", allow_module_level=True)
sys.path.insert(0, str(TOOLS))

from gpu.measure import Bench, Line, equalities, errors, same_bits  # noqa: E402
from gpu_check import SECTIONS, Section, check, main, table  # noqa: E402

DRY = Bench(dry=True)

# a child only runs the section; no thread of this process holds a lock that it needs
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def sections_of(printed: str) -> list[str]:
    rows = [line.split(" | ")[0].strip("| ") for line in printed.splitlines() if line[:1] == "|"]
    return list(dict.fromkeys(rows[2:]))


def test_a_dry_run_checks_every_section_on_the_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--dry-run"])
    printed = capsys.readouterr().out
    assert sections_of(printed) == [section.name for section in SECTIONS]
    assert "**" not in printed
    assert status == 0


def test_the_sections_are_listed_with_budgets_under_eight_minutes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out.split()
    assert listed[::3] == [section.name for section in SECTIONS]
    assert sum(map(int, listed[1::3])) < 480


def test_one_section_runs_beside_the_ceilings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dry-run", "--only", "short_conv"]) == 0
    assert sections_of(capsys.readouterr().out) == ["ceilings", "short_conv"]


def test_an_equality_that_fails_sets_the_exit_status() -> None:
    def failing(bench: Bench) -> Iterator[Line]:
        yield Line("bits", holds=False)

    lines, status = check([Section("x", failing, 60)], DRY)
    assert status == 1
    assert "| x | bits |  |  |  |  |  | **NO** |" in table(lines)


def test_a_section_out_of_time_keeps_its_lines_and_lets_the_next_one_run() -> None:
    def endless(bench: Bench) -> Iterator[Line]:
        yield Line("early", holds=True)
        threading.Event().wait()

    def quick(bench: Bench) -> Iterator[Line]:
        yield Line("late", holds=True)

    lines, status = check([Section("x", endless, 1), Section("y", quick, 60)], DRY)
    assert [line.what for line in lines] == ["early", "**DID NOT END**", "late"]
    assert lines[1].measured == "out of time"
    assert status == 2


def test_a_section_that_breaks_lets_the_next_one_run() -> None:
    def raising(bench: Bench) -> Iterator[Line]:
        raise ValueError("no such kernel")
        yield

    def dying(bench: Bench) -> Iterator[Line]:
        os._exit(3)
        yield

    lines, status = check([Section("x", raising, 60), Section("y", dying, 60)], DRY)
    assert [line.measured for line in lines] == [
        "ValueError: no such kernel",
        "ended with exit code 3",
    ]
    assert status == 2


def test_without_a_device_only_a_dry_run_says_anything() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a device")
    _, status = check(SECTIONS[:1], Bench(dry=False))
    assert status == 2


def test_an_operator_that_knows_its_batch_fails_each_equality() -> None:
    x_MC = torch.randn(9, 4)

    def run(numbers: Sequence[int]) -> Tensor:
        return x_MC[list(numbers)] + len(numbers)

    assert not any(holds for _, holds in same_bits(run, len(x_MC)))


def test_an_equality_names_the_cases_in_which_it_fails() -> None:
    cases = [("a", [("alone", True)]), ("b", [("alone", False)])]
    (line,) = equalities("product", cases)
    assert (line.measured, line.holds) == ("differ: b", False)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 2.0])
def test_one_wrong_number_breaks_the_limit(wrong: float) -> None:
    truth = torch.ones(3, 4, dtype=torch.float64)
    result = truth.float()
    assert errors("ones", [(result, truth)]).holds
    result[1, 2] = wrong
    assert not errors("ones", [(result, truth)]).holds
