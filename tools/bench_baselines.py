"""deg beside what people use today: the same base weights writing the whole object, constrained.

python tools/bench_baselines.py [--systems transformers,llamacpp,deg] [--out docs]

Every system answers from the same text and schema, greedy, on one thread: transformers (bf16, KV
cache) under llguidance's grammar of the schema, llama.cpp under its own on the same GGUF file,
and deg. The first two are needed here alone: `pip install llguidance llama-cpp-python` (the latter
is built from source, some minutes). Both are given what helps them: the best of three wordings of
the prompt, no blanks without end, and a schema without the keywords that they refuse, which are
counted. Of an answer that is cut off, the finished fields count.

Each document is run through all systems before the next. Finished runs are kept in `--results`
and not repeated, so a run that was stopped goes on where it was. `times deg` and the plot are of
processor time, which on one thread is the time a run takes where nothing else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from baselines.cases import Case, example_cases, generated_cases
from baselines.plot import plot
from baselines.report import Run, facts, summaries, table
from baselines.scoring import score
from baselines.systems import SYSTEMS, System, load_system

WARM_UP = Case(
    "warm-up",
    "The box is blue.",
    {"type": "object", "properties": {"colour": {"enum": ["blue", "red"]}}},
    {"colour": "blue"},
)


def main() -> None:
    """Run what has not been run, print the table, and write the files that documents show."""
    arguments = _arguments()
    one_thread()
    cases = example_cases()[: arguments.examples]
    cases += generated_cases(arguments.generated, arguments.seed)
    done = [run for run in read_runs(arguments.results, cases) if run.system in arguments.systems]
    measure(cases, arguments.systems, done, arguments.results)
    order = {name: number for number, name in enumerate(SYSTEMS)}
    done.sort(key=lambda run: order[run.system])
    groups = {
        "all": summaries(done),
        "examples": summaries(run for run in done if run.case.startswith("examples/")),
        "generated": summaries(run for run in done if run.case.startswith("generated/")),
    }
    for name, found in groups.items():
        num_documents = max((each.documents for each in found.values()), default=0)
        print(f"\n{name}, {num_documents} documents:\n\n{table(found)}")
    if arguments.out and groups["all"]:
        numbers = json.dumps(facts(groups), indent=2) + "\n"
        (arguments.out / "baselines.json").write_text(numbers, "utf-8")
        (arguments.out / "baselines.svg").write_text(plot(groups["all"]), "utf-8")


def one_thread() -> None:
    """Keep this process to one thread on one core."""
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure(cases: Sequence[Case], names: Sequence[str], done: list[Run], results: Path) -> None:
    """Run every case through every system where *done* has no run of it; add to both."""
    have = {(run.system, run.key) for run in done}
    missing = [name for name in names if any((name, case.key) not in have for case in cases)]
    systems = {name: _warm(load_system(name)) for name in missing}
    results.parent.mkdir(parents=True, exist_ok=True)
    with results.open("a", encoding="utf-8") as file:
        for case in cases:
            for name, system in systems.items():
                if (name, case.key) in have:
                    continue
                run = measured(name, system, case)
                done.append(run)
                file.write(json.dumps(asdict(run), ensure_ascii=False) + "\n")
                file.flush()
                print(
                    f"{name:12} {case.name:24} {run.cpu_s:7.2f} s CPU {run.wall_s:7.2f} s wall "
                    f"{run.generated_tokens:4d} written {run.num_right:3d} of "
                    f"{run.num_fields} right{', cut off' if run.cut_off else ''}",
                    flush=True,
                )


def measured(name: str, system: System, case: Case) -> Run:
    """Run *case* once, timed from the text and the schema to the answer."""
    system.prepare(case)
    began, began_cpu = time.perf_counter(), time.process_time()
    answer = system.fill(case)
    cpu_s, wall_s = time.process_time() - began_cpu, time.perf_counter() - began
    found = asdict(answer) | asdict(score(case, answer.text))
    return Run(name, case.name, case.key, round(cpu_s, 4), round(wall_s, 4), **found)


def read_runs(results: Path, cases: Sequence[Case]) -> Iterator[Run]:
    """Read the finished runs of *cases*, without the line in which an earlier one was stopped."""
    if not results.is_file():
        return
    whole, _, rest = results.read_text("utf-8").rpartition("\n")
    if rest:
        results.write_text(whole + "\n" if whole else "", "utf-8")
    by_key = {case.key: case for case in cases}
    for row in map(json.loads, whole.split("\n") if whole else ()):
        if case := by_key.get(row["key"]):
            yield Run(**row | asdict(score(case, row["text"])))


def _warm(system: System) -> System:
    system.prepare(WARM_UP)
    system.fill(WARM_UP)
    return system


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=_names, default=SYSTEMS, help=",".join(SYSTEMS))
    parser.add_argument("--examples", type=int, help="how many of them, all unless given")
    parser.add_argument("--generated", type=int, default=50, help="how many generated documents")
    parser.add_argument("--seed", type=int, default=0, help="which generated documents")
    parser.add_argument("--results", type=Path, default=Path("runs/baselines.jsonl"))
    parser.add_argument("--out", type=Path, help="folder for baselines.json and baselines.svg")
    return parser.parse_args()


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(SYSTEMS):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: known are {SYSTEMS}")
    return names


if __name__ == "__main__":
    main()
