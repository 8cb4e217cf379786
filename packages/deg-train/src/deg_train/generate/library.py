"""The library: every domain's fields and templates, read from the package data and checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from deg_train.generate.faults import Fault, LibraryError
from deg_train.generate.fields import Field, parse_fields
from deg_train.generate.kinds import DECIDE_KINDS, KINDS
from deg_train.generate.template import Labelled, Slot, Template, parse_templates, walk

__all__ = ["Domain", "Library", "check_library", "load_library"]

ROOT = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Domain:
    """The templates of one kind of business, and the fields they print."""

    name: str
    fields: dict[str, Field]
    templates: tuple[Template, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """Every domain by name."""

    domains: dict[str, Domain]


def load_library(root: Path = ROOT) -> Library:
    """Read `templates/*.txt` and `fields/*.txt` below the folder.

    Raises:
        LibraryError: something is wrong in a file; it lists every fault of every file.
    """
    library, faults = check_library(root)
    if faults:
        raise LibraryError(faults)
    return library


@cache
def default_library() -> Library:
    """Return the package's own library, read once."""
    return load_library()


def check_library(root: Path = ROOT) -> tuple[Library, list[Fault]]:
    """Read a library and leave out what is faulty, with the faults of all files."""
    domains: dict[str, Domain] = {}
    faults: list[Fault] = []
    seen: dict[str, str] = {}
    for path in sorted((root / "templates").glob("*.txt")):
        file = f"templates/{path.name}"
        templates, found = parse_templates(path.read_text(encoding="utf-8"), file)
        faults.extend(found)
        fields: dict[str, Field] = {}
        usable: list[Template] = []
        fields_path = root / "fields" / path.name
        if fields_path.exists():
            text = fields_path.read_text(encoding="utf-8")
            fields, found = parse_fields(text, f"fields/{path.name}")
            faults.extend(found)
            faults.extend(_unused(fields, templates, path.name))
        else:
            faults.append(Fault(file, 1, f"there is no fields/{path.name}"))
        for template in templates:
            if template.id in seen:
                where = f"already in {seen[template.id]}"
                faults.append(Fault(file, template.number, f"the id {template.id!r} is {where}"))
            seen[template.id] = f"{file}:{template.number}"
            found = _check_template(template, fields, file)
            faults.extend(found)
            if not found:
                usable.append(template)
        domains[path.stem] = Domain(path.stem, fields, tuple(usable))
    for path in sorted((root / "fields").glob("*.txt")):
        if path.stem not in domains:
            faults.append(Fault(f"fields/{path.name}", 1, f"there is no templates/{path.name}"))
    return Library(domains), faults


def _unused(fields: dict[str, Field], templates: list[Template], name: str) -> list[Fault]:
    used = {
        node.key if isinstance(node, Labelled) else node.name
        for template in templates
        for line in template.lines
        for node in walk(line.nodes)
    }
    stray = [key for key in fields if key not in used]
    return [Fault(f"fields/{name}", 1, f"no template prints {key!r}") for key in stray]


def _check_template(template: Template, fields: dict[str, Field], file: str) -> list[Fault]:
    faults = []
    keys = set()
    for line in template.lines:
        for node in walk(line.nodes):
            message = _check_node(node, fields)
            if message:
                faults.append(Fault(file, line.number, message))
            if isinstance(node, Labelled) or not node.decoy:
                keys.add(node.key if isinstance(node, Labelled) else node.name)
    faults.extend(
        Fault(file, template.number, f"the wordings of {key!r} share no label")
        for key, labels in template.labels.items()
        if not labels
    )
    if len(keys) < 2:
        faults.append(Fault(file, template.number, f"{template.id!r} prints under two keys"))
    return faults


def _check_node(node: Slot | Labelled, fields: dict[str, Field]) -> str | None:
    if isinstance(node, Slot):
        if node.decoy:
            return None if node.name in KINDS - {"text"} else f"unknown kind {node.name!r}"
        return None if node.name in fields else f"the key {node.name!r} is not declared"
    field = fields.get(node.key)
    if field is None:
        return f"the key {node.key!r} is not declared"
    if field.kind not in DECIDE_KINDS:
        return f"{node.key!r} is of kind {field.kind}: only choice, yes-no and score have labels"
    labels = [label for label, _ in node.ways]
    stray = [label for label in labels if label not in field.labels]
    if stray:
        return f"{node.key!r} has no label {stray[0]!r} (it has {', '.join(field.labels)})"
    if len(set(labels)) < len(labels):
        return f"{node.key!r} has a label twice: write its wordings as [..|..]"
    return None
