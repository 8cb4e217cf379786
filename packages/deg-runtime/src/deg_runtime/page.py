"""The page: a document with every extracted span marked, and a card a field beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from deg_runtime.cards import card
from deg_runtime.findings import Finding, findings, visible
from deg_runtime.marks import Segment, segments

__all__ = ["render_page"]

# one step of the golden angle: neighbours differ, however many there are
_FIRST_HUE, _HUE_STEP = 85.0, 137.5

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}
{links}
</style>
</head>
<body>
<header class="top">
<h1>{title}</h1>
<p>{summary}</p>
</header>
<div class="desk">
<main class="document" dir="auto">{document}</main>
<aside class="cards" aria-label="Fields">
{cards}
</aside>
</div>
<details class="json"><summary>The value as JSON</summary><pre>{json}</pre></details>
</body>
</html>
"""


def render_page(
    response: Mapping[str, Any], schema: Mapping[str, Any], context: str, *, title: str
) -> str:
    """Write the page of one response; it loads nothing and runs no script.

    Args:
        context: The rendered context, into which the spans point.
        title: The name of the document.
    """
    found = findings(response, schema)
    spans = {number: finding.span for number, finding in enumerate(found) if finding.span}
    hues = {number: (_FIRST_HUE + _HUE_STEP * place) % 360 for place, number in enumerate(spans)}
    heading = schema.get("title") or title
    return _PAGE.format(
        title=escape(visible(str(heading))),
        style=files("deg_runtime").joinpath("page.css").read_text("utf-8"),
        links="\n".join(_link(number, hues) for number in range(len(found))),
        summary=_summary(response, found, title),
        document="".join(_marked(segment, hues) for segment in segments(context, spans)),
        cards="\n".join(card(number, finding, context) for number, finding in enumerate(found)),
        json=escape(visible(json.dumps(response["value"], ensure_ascii=False, indent=2))),
    )


def _link(number: int, hues: Mapping[int, float]) -> str:
    # a card and its marks share a class: whichever is pointed at switches both on
    name = f".f{number}"
    pointed = f"{name}:hover,{name}:focus-within,#c{number}:target,#s{number}:target"
    hue = f"{name}{{--hue:{hues[number]:g}}}\n" if number in hues else ""
    return f"{hue}body:has({pointed}) {name}{{--on:1}}"


def _summary(response: Mapping[str, Any], found: Sequence[Finding], title: str) -> str:
    num_read = sum(finding.span is not None for finding in found)
    num_decided = sum(finding.is_decision for finding in found)
    num_missing = sum(finding.reason is not None for finding in found)
    parts = [
        escape(visible(title)),
        f"{num_read} read from the text",
        f"{num_decided} decided",
        f"{num_missing} not found",
        f"{response['usage']['prompt_tokens']} tokens",
        escape(visible(response["model"])),
    ]
    return " ".join(f"<span>{part}</span>" for part in parts)


def _marked(segment: Segment, hues: Mapping[int, float]) -> str:
    text = escape(visible(segment.text))
    if not segment.owners:
        return text
    anchors = "".join(f'<i id="s{number}"></i>' for number in segment.openers)
    classes = " ".join(f"f{number}" for number in segment.owners)
    bands = _bands([hues[number] for number in segment.owners])
    return f'{anchors}<a class="mark {classes}" href="#c{segment.owners[0]}"{bands}>{text}</a>'


def _bands(hues: Sequence[float]) -> str:
    """Return the background of a segment that several spans share: a band of colour for each."""
    if len(hues) == 1:
        return ""
    share = 100 / len(hues)
    stops = (
        f"oklch(var(--tint) {hue:g}) {place * share:g}% {(place + 1) * share:g}%"
        for place, hue in enumerate(hues)
    )
    return f' style="--hue:{hues[0]:g};background:linear-gradient({",".join(stops)})"'
