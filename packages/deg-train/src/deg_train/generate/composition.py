"""Composition: drafts joined, wrapped in other text, quoted, indented or set in capitals."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from deg_train.generate.drafts import Draft, Piece
from deg_train.generate.filler import draw_paragraph

__all__ = ["dress", "join"]

_JOINTS = ("\n\n", "\n\n---\n\n", "\n\n" + "=" * 40 + "\n\n", "\n\n\n", "\n\n* * *\n\n", "\n")


def join(first: Draft, second: Draft, rng: Random) -> Draft:
    """Put two drafts into one document; drafts of one domain stay apart, and the first is kept."""
    if any(domain in first.domains for domain in second.domains):
        return first
    offset = len(first.facts)
    moved = [
        Piece(piece.text, piece.fact + offset if piece.fact >= 0 else -1) for piece in second.pieces
    ]
    joint = rng.choice(_JOINTS)
    if rng.random() < 0.2:
        joint += draw_paragraph(rng) + joint
    return Draft(
        [*first.pieces, Piece(joint), *moved],
        first.facts + second.facts,
        first.absent + second.absent,
        first.domains + second.domains,
        first.decoy_kinds | second.decoy_kinds,
        first.names + second.names,
    )


def dress(draft: Draft, rng: Random) -> None:
    """Change how a draft looks, at random and mostly not at all."""
    roll = rng.random()
    if roll < 0.05:
        _start_lines(draft, rng.choice(("> ", ">> ", "> > ")))
    elif roll < 0.10:
        _start_lines(draft, rng.choice(("  ", "    ", "\t", "// ", "# ")))
    elif roll < 0.14:
        _map_text(draft, str.upper)
    elif roll < 0.17:
        _map_text(draft, str.lower)
    elif roll < 0.19:
        _map_text(draft, lambda text: text.replace("\n", "\r\n"))
    elif roll < 0.21:
        _map_text(draft, lambda text: text.replace("\n", " "))
    elif roll < 0.23:
        _map_text(draft, lambda text: text.replace("\n", "\n\n"))
    if rng.random() < 0.12:
        draft.pieces.insert(0, Piece(draw_paragraph(rng) + rng.choice(("\n\n", "\n"))))
    if rng.random() < 0.12:
        draft.pieces.append(Piece(rng.choice(("\n\n", "\n")) + draw_paragraph(rng)))


def _start_lines(draft: Draft, prefix: str) -> None:
    _map_text(draft, lambda text: text.replace("\n", "\n" + prefix))
    draft.pieces.insert(0, Piece(prefix))


def _map_text(draft: Draft, change: Callable[[str], str]) -> None:
    draft.pieces = [
        piece if piece.fact >= 0 else Piece(change(piece.text)) for piece in draft.pieces
    ]
