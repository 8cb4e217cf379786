"""Cards: one field of a response as a piece of the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from deg_runtime.findings import Bar, Finding, visible

__all__ = ["card", "percent"]

_MOST_OPTIONS = 6
_MOST_LEVELS = 12


def card(number: int, finding: Finding, context: str) -> str:
    """Write the card of field *number*, which its marks in the text link to."""
    name = escape(finding.name)
    link = f'<a href="#s{number}">{name}</a>' if finding.span else name
    about = finding.field.description or finding.field.title
    parts = [
        f'<header><h2>{link}</h2><span class="mode">{finding.mode}</span></header>',
        f'<p class="about">{_text(about)}</p>' if about else "",
        _value(finding),
        _note(finding, context),
        _sureness(finding),
    ]
    kind = "missing" if finding.reason else "decided" if finding.is_decision else "read"
    body = "\n".join(part for part in parts if part)
    return f'<article class="card {kind} f{number}" id="c{number}">\n{body}\n</article>'


def percent(probability: float) -> str:
    """Word a probability; only certainty is worded as 0 or 100 %."""
    if 0 < probability < 0.01:
        return "< 1 %"
    if 0.99 < probability < 1:
        return "> 99 %"
    return f"{probability:.0%}".replace("%", " %")


def _value(finding: Finding) -> str:
    is_empty = finding.value is None
    kind = "none" if is_empty else "text" if isinstance(finding.value, str) else "literal"
    return f'<p class="value {kind}" dir="auto">{escape(finding.shown_value)}</p>'


def _note(finding: Finding, context: str) -> str:
    notes = [_text(note) for note in (finding.reason, finding.answer_note) if note]
    written = context[slice(*finding.span)] if finding.span else finding.shown_value
    if visible(written) != finding.shown_value:
        notes.append(f"written <q>{_text(written)}</q>")
    if finding.assumed_offset:
        notes.append("the offset is assumed")
    return f'<p class="note">{", ".join(notes)}</p>' if notes else ""


def _sureness(finding: Finding) -> str:
    if finding.field.mode == "decide.score" and len(finding.bars) <= _MOST_LEVELS:
        return _levels(finding.bars)
    if finding.bars:
        return _options(finding.bars)
    if finding.sureness is None:
        return ""
    return _bars([Bar("confidence", None, finding.sureness, True)])


def _options(bars: Sequence[Bar]) -> str:
    if len(bars) <= _MOST_OPTIONS:
        return _bars(bars)
    likely = sorted(bars, key=lambda bar: -bar.probability)
    rest = likely[_MOST_OPTIONS - 1 :]
    share = percent(sum(bar.probability for bar in rest))
    return (
        f"{_bars(likely[: _MOST_OPTIONS - 1])}\n"
        f"<details><summary>{len(rest)} more, {share} together</summary>{_bars(rest)}</details>"
    )


def _bars(bars: Sequence[Bar]) -> str:
    rows = "\n".join(
        f'<li class="{_kind(bar)}"{_hint(bar)}><span class="label">{escape(bar.label)}</span>'
        f'<span class="track"><b style="width:{_size(bar)}"></b></span>'
        f'<span class="number">{percent(bar.probability)}</span></li>'
        for bar in bars
    )
    return f'<ul class="bars">\n{rows}\n</ul>'


def _levels(bars: Sequence[Bar]) -> str:
    columns = "\n".join(
        f'<li class="{_kind(bar)}"{_hint(bar)}>'
        f'<span class="number">{percent(bar.probability)}</span>'
        f'<span class="track"><b style="height:{_size(bar)}"></b></span>'
        f'<span class="label">{escape(bar.label)}</span></li>'
        for bar in bars
    )
    return f'<ul class="levels">\n{columns}\n</ul>'


def _kind(bar: Bar) -> str:
    return "answer" if bar.is_answer else "other"


def _hint(bar: Bar) -> str:
    # a long label is cut short
    return f' title="{_text(": ".join(filter(None, [bar.label, bar.note])))}"'


def _size(bar: Bar) -> str:
    return f"{max(0.0, min(1.0, bar.probability)) * 100:.1f}%"


def _text(text: str) -> str:
    return escape(visible(text))
