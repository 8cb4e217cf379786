"""Decisions: how choice, yes-no and score fields are asked, and what the answer is then."""

from __future__ import annotations

from random import Random
from typing import Any

from deg_train.generate.fields import Field, Option
from deg_train.generate.names import styled_label

__all__ = ["phrase_decision"]

Decision = tuple[dict[str, Any], Any]


def phrase_decision(spec: Field, label: str | None, rng: Random) -> Decision:
    """Return the schema of a decide field and its answer.

    Without a label the document does not say; null is then an option, and the answer.
    """
    if spec.kind == "yes-no":
        return _yes_no(label, rng)
    if spec.kind == "score":
        return _score(spec, label, rng)
    return _choice(spec, label, rng)


def _yes_no(label: str | None, rng: Random) -> Decision:
    answer = None if label is None else label == "yes"
    roll = rng.random()
    if label is None or roll < 0.06:
        return {"type": ["boolean", "null"]}, answer
    if roll < 0.14:
        yes, no = rng.choice((("yes", "no"), ("Yes", "No"), ("true", "false"), ("Y", "N")))
        return {"enum": _shuffled([yes, no], rng)}, yes if answer else no
    return {"type": "boolean"}, answer


def _score(spec: Field, label: str | None, rng: Random) -> Decision:
    schema: dict[str, Any] = {
        "type": "integer" if label is not None and rng.random() < 0.94 else ["integer", "null"],
        "minimum": spec.lowest,
        "maximum": spec.highest,
    }
    if spec.options and rng.random() < 0.55:
        schema["x-levels"] = {
            option.name: option.description
            for option in spec.options
            if option.description and rng.random() < 0.9
        } or {spec.options[0].name: spec.options[0].description or "lowest"}
    return schema, None if label is None else int(label)


def _choice(spec: Field, label: str | None, rng: Random) -> Decision:
    options = _subset(spec.options, label, rng)
    described = all(option.description for option in options)
    roll = rng.random()
    names = {option.name: option.name for option in options}
    if described and roll < 0.1:
        names = {option.name: str(option.description) for option in options}
    elif roll < 0.3:
        style = rng.choice(("upper", "title", "words", "camel", "kebab"))
        names = {option.name: styled_label(option.name, style) for option in options}
    elif described and roll < 0.38 and len(options) <= 26:
        names = {option.name: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i] for i, option in enumerate(options)}
    if len(set(names.values())) < len(names):
        names = {option.name: option.name for option in options}
    lettered = any(len(name) == 1 for name in names.values())
    answer = None if label is None else names[label]
    nullable = label is None or rng.random() < 0.06
    if lettered or (described and rng.random() < 0.45):
        branches: list[dict[str, Any]] = [
            {"const": names[option.name], **_description(option, names, rng)} for option in options
        ]
        if nullable:
            branches.append({"const": None, "description": "the text does not say"})
        return {rng.choice(("oneOf", "oneOf", "anyOf")): branches}, answer
    values: list[str | None] = list(names.values())
    if nullable:
        values.append(None)
    typed = {"type": "string"} if rng.random() < 0.5 and not nullable else {}
    return {**typed, "enum": values}, answer


def _description(option: Option, names: dict[str, str], rng: Random) -> dict[str, Any]:
    if not option.description or names[option.name] == option.description:
        return {}
    if len(names[option.name]) == 1 and rng.random() < 0.4:
        return {"description": styled_label(option.name, "lower")}
    return {"description": option.description}


def _subset(options: tuple[Option, ...], label: str | None, rng: Random) -> list[Option]:
    kept = list(options)
    if len(kept) > 2 and rng.random() < 0.4:
        others = [option for option in kept if option.name != label]
        kept = [option for option in kept if option.name == label]
        kept += rng.sample(others, rng.randint(2 - len(kept), len(others)))
    return _shuffled(kept, rng)


def _shuffled(items: list[Any], rng: Random) -> list[Any]:
    return rng.sample(items, len(items))
