"""The plot that the README shows: seconds and right fields as bars, in light and dark."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from baselines.report import LABELS, Summary

__all__ = ["plot"]

_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" width="760" height="{height}" \
role="img" aria-label="{label}">
<style>
text {{ font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }}
.head {{ font-weight: 600; }}
.note {{ font-size: 12px; fill: #59636e; }}
.bar {{ fill: #a8b1ba; }}
.ours {{ fill: #1f6feb; }}
.axis {{ stroke: #d1d9e0; }}
.paper {{ fill: #ffffff; }}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e6edf3; }} .note {{ fill: #9198a1; }} .bar {{ fill: #656c76; }}
  .ours {{ fill: #4493f8; }} .axis {{ stroke: #3d444d; }}
  .paper {{ fill: #0d1117; }}
}}
</style>
<rect class="paper" width="760" height="{height}" rx="6"/>
{body}
</svg>
"""
_TOP, _ROW, _BAR, _WIDE = 38, 34, 20, 200
_PANELS = (190, 500)


def plot(found: Mapping[str, Summary]) -> str:
    """Return bars of the seconds a document takes and of the share of right fields, as SVG."""
    documents = max(each.documents for each in found.values())
    slowest = max(each.cpu_s for each in found.values())
    height = _TOP + _ROW * len(found) + 30
    heads = ("Seconds a document, one CPU thread", "Fields right")
    body = [
        f'<text class="head" x="{x}" y="18">{head}</text>'
        for x, head in zip(_PANELS, heads, strict=True)
    ]
    for number, (name, each) in enumerate(found.items()):
        y = _TOP + _ROW * number
        kind = "ours" if name == "deg" else "bar"
        body.append(f'<text x="178" y="{y + 15}" text-anchor="end">{escape(LABELS[name])}</text>')
        body += _bar(_PANELS[0], y, each.cpu_s / slowest, f"{each.cpu_s:.2f} s", kind)
        body += _bar(_PANELS[1], y, each.right, f"{each.right:.0%}", kind)
    bottom = _TOP + _ROW * len(found) - 8
    body += [f'<path class="axis" d="M{x} {_TOP - 6}V{bottom}"/>' for x in _PANELS]
    note = f"The same base weights on {documents} documents, greedy."
    body.append(f'<text class="note" x="{_PANELS[0]}" y="{height - 10}">{note}</text>')
    label = "; ".join(
        f"{LABELS[name]}: {each.cpu_s:.2f} s, {each.right:.0%} of fields right"
        for name, each in found.items()
    )
    return _SVG.format(height=height, label=escape(label, quote=True), body="\n".join(body))


def _bar(x: int, y: int, share: float, text: str, kind: str) -> list[str]:
    wide = max(1.0, share * _WIDE)
    return [
        f'<rect class="{kind}" x="{x}" y="{y}" width="{wide:.1f}" height="{_BAR}" rx="2"/>',
        f'<text x="{x + wide + 6:.1f}" y="{y + 15}">{text}</text>',
    ]
