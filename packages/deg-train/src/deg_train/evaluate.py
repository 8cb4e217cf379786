"""`deg-train evaluate`: run suites of unseen records through the engine and write what came out."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from deg_runtime import Engine, load
from deg_train.answers import Answered, Filler, answer_all, holds_slice_law, is_valid
from deg_train.console import say
from deg_train.decide_metrics import decide_judged
from deg_train.extract_metrics import extract_judged
from deg_train.metrics import measure_all, mistakes
from deg_train.records import Record
from deg_train.reliability import Bins
from deg_train.suites import OWN, SUITES, Suite

__all__ = ["evaluate", "evaluate_own", "result_of", "run_suite", "write_json"]

_MAX_MISTAKES = 200
_SECONDS_BETWEEN_LINES = 10.0


def evaluate(
    checkpoint: Path,
    out: Path,
    *,
    sets: Path | None,
    names: Sequence[str],
    scale: float,
    threads: int,
) -> None:
    """Measure *checkpoint* and write `<suite>.json` into *out* as each suite ends.

    Args:
        checkpoint: A folder that `deg-train fit` wrote.
        out: Holds the results, and beside each the first wrong answers.
        sets: The public data sets; without it, the generated suites alone.
        names: Which suites; all that can be read where there are none.
        scale: A factor on the number of records of each suite.
        threads: CPU threads of the tensor library.

    Raises:
        ValueError: A suite needs *sets*, or *scale* is not above 0.
    """
    suites = _chosen(names, sets)
    if not 0 < scale < float("inf"):
        raise ValueError(f"a scale of {scale} leaves no records: take one above 0")
    torch.set_num_threads(threads)
    out.mkdir(parents=True, exist_ok=True)
    read = [
        (suite, suite.read(sets or Path(), max(1, round(scale * suite.num_records))))
        for suite in suites
    ]
    engine = load(checkpoint, report=say)
    for suite, records in read:
        _measure(engine, suite, records, out)


def evaluate_own(checkpoint: Path, out: Path, records: Sequence[Record], *, threads: int) -> None:
    """Measure *checkpoint* on *records* of a user's own and write `own.json` into *out*."""
    torch.set_num_threads(threads)
    out.mkdir(parents=True, exist_ok=True)
    _measure(load(checkpoint, report=say), OWN, records, out)


def _measure(engine: Engine, suite: Suite, records: Sequence[Record], out: Path) -> None:
    answered, seconds = run_suite(engine, suite, records)
    result = result_of(suite, answered, seconds)
    write_json(out / f"{suite.name}.json", {"model": engine.model_id, **result})
    _write_mistakes(out / f"{suite.name}.mistakes.jsonl", answered)


def run_suite(
    engine: Filler, suite: Suite, records: Sequence[Record]
) -> tuple[list[Answered], float]:
    """Answer *records* and return the answers with the seconds that they took."""
    began = told = time.perf_counter()
    answered: list[Answered] = []
    for group in answer_all(engine, records):
        answered += group
        now = time.perf_counter()
        if now - told > _SECONDS_BETWEEN_LINES or len(answered) == len(records):
            say(f"{suite.name}  {len(answered)}/{len(records)} records  {now - began:.0f} s")
            told = now
    return answered, time.perf_counter() - began


def result_of(suite: Suite, answered: Sequence[Answered], seconds: float) -> dict[str, Any]:
    """Return every measure of a suite's answers, each with its sample size, ready for JSON."""
    pairs = [(each.record, each.response) for each in answered]
    slices = [held for each in answered for held in holds_slice_law(each)]
    return {
        "suite": suite.name,
        "about": suite.about,
        "num_records": len(answered),
        "num_fields": sum(len(each.response["meta"]) for each in answered),
        "seconds": round(seconds, 1),
        "measures": measure_all(pairs),
        "bins": {
            "decide": asdict(Bins.of(decide_judged(pairs))),
            "extract": asdict(Bins.of(extract_judged(pairs))),
        },
        "schema_valid": {"held": sum(map(is_valid, answered)), "count": len(answered)},
        "slice_law": {"held": sum(slices), "count": len(slices)},
        "num_refused": sum(len(each.refused) for each in answered),
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write *content* to *path*, whole or not at all."""
    # two evaluations may end into one folder at once
    part = path.with_name(f".{path.name}-{os.getpid()}")
    part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    os.replace(part, path)


def _chosen(names: Sequence[str], sets: Path | None) -> list[Suite]:
    for name in names:
        if name not in SUITES:
            raise ValueError(f"{name!r} is no suite: one of {', '.join(SUITES)}")
        if SUITES[name].needs_sets and sets is None:
            raise ValueError(f"the suite {name!r} is read from the public sets: give --sets")
    if names:
        return [SUITES[name] for name in dict.fromkeys(names)]
    return [suite for suite in SUITES.values() if sets is not None or not suite.needs_sets]


def _write_mistakes(path: Path, answered: Sequence[Answered]) -> None:
    wrong = mistakes((each.record, each.response) for each in answered)
    lines = [
        json.dumps(each, ensure_ascii=False) + "\n"
        for each in itertools.islice(wrong, _MAX_MISTAKES)
    ]
    path.write_text("".join(lines), "utf-8")
