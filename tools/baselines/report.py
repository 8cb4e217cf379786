"""What the runs come to: a table, and its numbers as JSON."""

from __future__ import annotations

import importlib.metadata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["LABELS", "Run", "Summary", "facts", "summaries", "table"]

LABELS = {
    "transformers": "transformers + llguidance",
    "llamacpp": "llama.cpp + its grammar",
    "deg": "deg",
}
"""What a reader sees for each system."""

_VERSIONS = ("torch", "transformers", "llguidance", "llama-cpp-python", "deg-runtime")


@dataclass(frozen=True, slots=True)
class Run:
    """One document through one system; the fields are those of `Answer` and `Score`, and times.

    Attributes:
        case: The document's name.
        key: The hash of all that was asked.
        cpu_s: Processor seconds from text and schema to the answer.
        wall_s: The same by the clock.
    """

    system: str
    case: str
    key: str
    cpu_s: float
    wall_s: float
    text: str
    prompt_tokens: int
    generated_tokens: int
    cut_off: bool
    dropped: Sequence[str]
    valid: bool
    num_fields: int
    num_right: int
    num_stated: int
    num_stated_right: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One system over all documents; seconds and tokens are means of a document.

    Attributes:
        slower: How many times the processor time of deg.
        right: The share of the fields that are right.
        stated_right: The share of right ones among the fields whose value the document states.
        dropped: How often the grammar had to do without a keyword of a schema.
    """

    documents: int
    cpu_s: float
    wall_s: float
    slower: float | None
    prompt_tokens: float
    generated_tokens: float
    valid: float
    right: float
    stated_right: float
    cut_off: int
    dropped: dict[str, int]


def summaries(runs: Iterable[Run]) -> dict[str, Summary]:
    """Sum up each system over the documents that all of them have answered."""
    by_system: dict[str, dict[str, Run]] = {}
    for run in runs:
        by_system.setdefault(run.system, {})[run.key] = run
    if not by_system:
        return {}
    common = set.intersection(*(set(found) for found in by_system.values()))
    if not common:
        return {}
    chosen = {name: [found[key] for key in sorted(common)] for name, found in by_system.items()}
    ours = sum(run.cpu_s for run in chosen["deg"]) if "deg" in chosen else None
    return {name: _summary(found, ours) for name, found in chosen.items()}


def table(found: Mapping[str, Summary]) -> str:
    """Return the systems as a Markdown table."""
    head = (
        "system|CPU s|wall s|times deg|tokens read|tokens written|valid|fields right"
        "|of those stated|cut off|keywords dropped"
    )
    rows = [head.split("|"), ["---", *["---:"] * head.count("|")]]
    for name, each in found.items():
        row = [
            LABELS[name],
            f"{each.cpu_s:.2f}",
            f"{each.wall_s:.2f}",
            f"{each.slower:.1f}" if each.slower else "",
            f"{each.prompt_tokens:.0f}",
            f"{each.generated_tokens:.0f}",
            f"{each.valid:.0%}",
            f"{each.right:.1%}",
            f"{each.stated_right:.1%}",
            str(each.cut_off),
            str(sum(each.dropped.values())),
        ]
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def facts(groups: Mapping[str, Mapping[str, Summary]]) -> dict[str, Any]:
    """Return the numbers of every group of documents, and the versions that they were run with."""
    versions = {}
    for name in _VERSIONS:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "versions": versions,
        **{
            group: {name: asdict(each) for name, each in found.items()}
            for group, found in groups.items()
        },
    }


def _summary(runs: Sequence[Run], ours: float | None) -> Summary:
    count = len(runs)
    cpu_s = sum(run.cpu_s for run in runs)
    return Summary(
        documents=count,
        cpu_s=cpu_s / count,
        wall_s=sum(run.wall_s for run in runs) / count,
        slower=cpu_s / ours if ours else None,
        prompt_tokens=sum(run.prompt_tokens for run in runs) / count,
        generated_tokens=sum(run.generated_tokens for run in runs) / count,
        valid=sum(run.valid for run in runs) / count,
        right=sum(run.num_right for run in runs) / sum(run.num_fields for run in runs),
        stated_right=sum(run.num_stated_right for run in runs)
        / sum(run.num_stated for run in runs),
        cut_off=sum(run.cut_off for run in runs),
        dropped=dict(Counter(keyword for run in runs for keyword in run.dropped)),
    )
