"""A pattern as a deterministic automaton that reads a text character by character.

The parts of the pattern become a graph. A state of the automaton is a formula over places in it:
`or` where the search goes several ways, `and` and `not` for what must or must not follow. So
lookaheads need nothing of their own, and a lookbehind of one character, as in `\\b`, needs only the
class of the last one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from deg_runtime.alphabet import Alphabet
from deg_runtime.pattern_tree import (
    Chars,
    Choice,
    Edge,
    Points,
    Repeat,
    Series,
    Tree,
    UnwritablePattern,
    read_tree,
)

__all__ = ["Automaton", "read_automaton"]

_MOST_STATES = 10_000
_MOST_NODES = 100_000
_EVERY: Points = ((0, 0x10FFFF),)
_TEXT_START = -1

Formula: TypeAlias = bool | int | tuple[str, frozenset["Formula"]]
_State: TypeAlias = tuple[Formula, int]
_Condition: TypeAlias = tuple[bool, int] | None


@dataclass(frozen=True, slots=True)
class Automaton:
    """States from 0, the first, each with where it goes on a character of each class.

    Attributes:
        alphabet: The classes.
        steps: For each state and each class the next state.
        accepts: For each state, whether the pattern is found in a text that ends there.
    """

    alphabet: Alphabet
    steps: tuple[tuple[int, ...], ...]
    accepts: tuple[bool, ...]


def read_automaton(pattern: str) -> Automaton:
    """Return the automaton of the texts that hold *pattern* somewhere.

    Raises:
        UnwritablePattern: It refers back, looks back over several characters, or takes more than
            ten thousand states.
    """
    graph = _Graph()
    start = graph.add(read_tree(pattern), graph.accept)
    # the search may begin at any character
    search = graph.node(_Node())
    graph.nodes[search].following = [start, graph.node(_Node([search], graph.set_of(_EVERY)))]
    return _Explorer(graph, search).automaton()


@dataclass(slots=True)
class _Node:
    """A place in the graph: waits for a character of a set, or goes on at once on a condition."""

    following: list[int] = field(default_factory=list)
    chars: int | None = None
    look: tuple[bool, int] | None = None
    behind: tuple[bool, int] | None = None
    edge: str = ""


class _Graph:
    def __init__(self) -> None:
        # in a formula 0 and 1 are as good as False and True
        self.nodes: list[_Node] = [_Node(), _Node()]
        self.accept = 0
        self.sets: dict[Points, int] = {}

    def set_of(self, points: Points) -> int:
        return self.sets.setdefault(points, len(self.sets))

    def node(self, node: _Node) -> int:
        if len(self.nodes) > _MOST_NODES:
            raise UnwritablePattern("its repetitions allow too many characters")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def add(self, tree: Tree, after: int) -> int:
        """Add *tree* before the node *after*, and return where it begins."""
        if isinstance(tree, Chars):
            return self.node(_Node([after], self.set_of(tree.points)))
        if isinstance(tree, Series):
            for part in reversed(tree.parts):
                after = self.add(part, after)
            return after
        if isinstance(tree, Choice):
            return self.node(_Node([self.add(branch, after) for branch in tree.branches]))
        if isinstance(tree, Repeat):
            return self._repeat(tree, after)
        if isinstance(tree, Edge):
            return self.node(_Node([after], edge="end" if tree.at_end else "start"))
        if tree.behind:
            return self.node(_Node([after], behind=(tree.negated, self._one_before(tree.body))))
        return self.node(_Node([after], look=(tree.negated, self.add(tree.body, self.accept))))

    def _repeat(self, tree: Repeat, after: int) -> int:
        if tree.high is None:
            begin = self.node(_Node())
            self.nodes[begin].following = [self.add(tree.body, begin), after]
        else:
            begin = after
            for _ in range(tree.high - tree.low):
                begin = self.node(_Node([self.add(tree.body, begin), after]))
        for _ in range(tree.low):
            begin = self.add(tree.body, begin)
        return begin

    def _one_before(self, tree: Tree) -> int:
        while isinstance(tree, Series) and len(tree.parts) == 1:
            tree = tree.parts[0]
        if not isinstance(tree, Chars):
            raise UnwritablePattern("it looks back over more than one character")
        return self.set_of(tree.points)


class _Explorer:
    """Finds every state that can be reached."""

    def __init__(self, graph: _Graph, start: int) -> None:
        self._nodes, self._accept, self._start = graph.nodes, graph.accept, start
        self._alphabet = Alphabet(list(graph.sets))
        self._behind = sum({1 << n.behind[1] for n in graph.nodes if n.behind})
        self._asks_start = any(node.edge == "start" or node.behind for node in graph.nodes)
        self._ways: dict[tuple[int, int], list[tuple[frozenset[_Condition], int]]] = {}
        self._moves: dict[tuple[int, int, int], Formula] = {}

    def automaton(self) -> Automaton:
        first: _State = (self._start, _TEXT_START if self._asks_start else 0)
        states: dict[_State, int] = {first: 0}
        waiting = [first]
        steps = []
        for formula, before in waiting:
            row = []
            for number, sets in enumerate(self._alphabet.sets_of):
                after = self._step(formula, before, number)
                state: _State = (after, 0 if isinstance(after, bool) else sets & self._behind)
                if state not in states:
                    states[state] = len(states)
                    waiting.append(state)
                row.append(states[state])
            if len(states) > _MOST_STATES:
                raise UnwritablePattern(f"it takes more than {_MOST_STATES} states")
            steps.append(tuple(row))
        accepts = tuple(self._ends(formula, before) for formula, before in waiting)
        return Automaton(self._alphabet, tuple(steps), accepts)

    def _step(self, formula: Formula, before: int, number: int) -> Formula:
        """Return what must hold of the rest after a character of class *number*."""
        if isinstance(formula, bool):
            return formula
        if isinstance(formula, tuple):
            kind, parts = formula
            stepped = [self._step(part, before, number) for part in parts]
            return _joined(kind, stepped)
        key = (formula, before, number)
        if key not in self._moves:
            self._moves[key] = _joined("or", self._branches(formula, before, number))
        return self._moves[key]

    def _branches(self, node: int, before: int, number: int) -> Iterable[Formula]:
        sets = self._alphabet.sets_of[number]
        for conditions, leaf in self._ways_from(node, before):
            chars = self._nodes[leaf].chars
            if None in conditions or (chars is not None and not sets >> chars & 1):
                continue
            parts: list[Formula] = [True if chars is None else self._nodes[leaf].following[0]]
            for condition in conditions:
                assert condition is not None
                negated, start = condition
                held = self._step(start, before, number)
                parts.append(_joined("not", [held]) if negated else held)
            yield _joined("and", parts)

    def _ends(self, formula: Formula, before: int) -> bool:
        """Say whether *formula* holds of a text that ends here."""
        if isinstance(formula, bool):
            return formula
        if isinstance(formula, tuple):
            kind, parts = formula
            held = [self._ends(part, before) for part in parts]
            return {"not": not held[0], "and": all(held), "or": any(held)}[kind]
        return any(
            leaf == self._accept
            and all(c is None or self._ends(c[1], before) != c[0] for c in conditions)
            for conditions, leaf in self._ways_from(formula, before)
        )

    def _ways_from(self, node: int, before: int) -> list[tuple[frozenset[_Condition], int]]:
        """Return every node that waits or accepts, with what must hold on the way there.

        A condition is what must follow, or must not, or None: that nothing does.
        """
        key = (node, before)
        if key not in self._ways:
            self._ways[key] = [
                (conditions, leaf)
                for conditions, leaf in self._walk(node, before)
                if leaf == self._accept or self._nodes[leaf].chars is not None
            ]
        return self._ways[key]

    def _walk(self, node: int, before: int) -> Iterable[tuple[frozenset[_Condition], int]]:
        first: tuple[frozenset[_Condition], int] = (frozenset(), node)
        found = {first: None}
        waiting = [first]
        while waiting:
            conditions, place = waiting.pop()
            here = self._nodes[place]
            if here.chars is not None or not self._passes(here, before):
                continue
            if here.look:
                conditions = conditions | {here.look}
            elif here.edge == "end":
                conditions = conditions | {None}
            for after in here.following:
                way = (conditions, after)
                if way not in found:
                    found[way] = None
                    waiting.append(way)
        return found

    def _passes(self, node: _Node, before: int) -> bool:
        if node.edge == "start":
            return before == _TEXT_START
        if node.behind:
            negated, number = node.behind
            return (before != _TEXT_START and bool(before >> number & 1)) != negated
        return True


def _joined(kind: str, parts: Iterable[Formula]) -> Formula:
    if kind == "not":
        (part,) = parts
        if isinstance(part, bool):
            return not part
        if isinstance(part, tuple) and part[0] == "not":
            return next(iter(part[1]))
        return ("not", frozenset([part]))
    absorbing = kind == "or"
    flat: set[Formula] = set()
    for part in parts:
        if isinstance(part, bool):
            if part == absorbing:
                return absorbing
        elif isinstance(part, tuple) and part[0] == kind:
            flat |= part[1]
        else:
            flat.add(part)
    if not flat:
        return not absorbing
    return flat.pop() if len(flat) == 1 else (kind, frozenset(flat))
