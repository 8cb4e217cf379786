"""Writes labelled delivery notes of a made-up haulier, to try training on one's own documents.

python docs/delivery_notes.py OUT.jsonl [--train 200] [--val 20] [--test 80] [--seed 0] [--message]

The house has its own abbreviations and leaves out whatever it does not know, as real ones do. Only
values are given: where they stand in the text, `deg-train` finds by itself. With --message each
note has the text too that the house sends to its customer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "note": {"type": "string", "description": "number of the delivery note"},
        "customer": {"type": "string", "description": "customer number"},
        "their_order": {
            "type": ["string", "null"],
            "description": "the customer's own order number",
        },
        "consignee": {"type": "string", "description": "who receives the goods"},
        "loaded": {"type": "string", "format": "date", "description": "day of loading"},
        "deliver_by": {
            "type": ["string", "null"],
            "format": "date",
            "description": "latest day of delivery",
        },
        "gross_kg": {"type": ["number", "null"], "description": "gross weight in kilograms"},
        "pallets": {"type": ["integer", "null"], "description": "number of pallets"},
        "driver": {"type": ["string", "null"], "description": "name of the driver"},
        "truck": {"type": ["string", "null"], "description": "number plate of the truck"},
        "damage_reported": {"type": "boolean", "description": "is any damage noted?"},
    },
    "required": ["note", "customer", "consignee", "loaded", "damage_reported"],
}
MESSAGE = {
    "type": "string",
    "description": "what the customer is told of this delivery",
    "x-generate": True,
    "x-max-tokens": 80,
}
FIRMS = (
    "Hansen Baustoffe",
    "Alpen Molkerei",
    "Nordlicht Papier",
    "Kessler & Sohn",
    "Meyer Metall",
    "Rheintal Obst",
    "Sandberg Fliesen",
    "Tiefbau Krone",
    "Vogt Werkzeuge",
    "Weser Kaffee",
)
TOWNS = ("Bremen", "Fulda", "Jena", "Kassel", "Lingen", "Passau", "Trier", "Ulm", "Wismar", "Zeitz")
DRIVERS = ("Brandt", "M. Okafor", "Yilmaz", "P. Nowak", "Schulte", "Dvorak", "L. Petersen", "Ruiz")
DAMAGES = ("2 cartons crushed", "film torn on one pallet", "corner dented", "one sack wet")
REMARKS = ("dock 4, ring twice", "tail lift needed", "call before arrival", "no remarks")


def note(rng: Random) -> tuple[str, dict[str, Any], str]:
    """Return a note, what it says, and what the customer is told of it."""
    loaded = date(2026, 1, 5) + timedelta(rng.randrange(330))
    due = loaded + timedelta(rng.randint(1, 6))
    value: dict[str, Any] = {
        "note": f"{rng.randint(10, 99)}/{rng.randint(1000, 9999)}{rng.choice('ABCK')}",
        "customer": str(rng.randint(20000, 29999)),
        "their_order": rng.choice(
            (None, str(rng.randint(20000, 99999)), f"PO{rng.randint(10, 999)}")
        ),
        "consignee": f"{rng.choice(FIRMS)}, {rng.choice(TOWNS)}",
        "loaded": loaded.isoformat(),
        "deliver_by": rng.choice((None, due.isoformat(), due.isoformat())),
        "gross_kg": rng.choice((None, rng.randint(80, 24000), rng.randint(800, 9000) / 10)),
        "pallets": rng.choice((None, rng.randint(1, 33))),
        "driver": rng.choice((None, rng.choice(DRIVERS))),
        "truck": rng.choice(
            (None, f"HB-{rng.choice('KLMT')}{rng.choice('RSX')} {rng.randint(10, 999)}")
        ),
        "damage_reported": rng.random() < 0.3,
    }
    remark = rng.choice(DAMAGES if value["damage_reported"] else REMARKS)
    return rng.choice(LAYOUTS)(value, remark, rng), value, message(value, remark)


def message(value: dict[str, Any], remark: str) -> str:
    """Write what the customer is told, as the house always does."""
    load = "Your goods are" if value["pallets"] is None else f"{value['pallets']} pal. are"
    due = value["deliver_by"]
    when = "as soon as we can" if due is None else f"by {due[8:]}.{due[5:7]}"
    parts = [f"{load} on the way to {value['consignee']} and will be there {when}"]
    if value["damage_reported"]:
        parts.append(f"We are sorry: {remark}")
    parts.append(f"Your note is {value['note']}")
    return ". ".join(parts) + "."


def block(value: dict[str, Any], remark: str, rng: Random) -> str:
    """Write one abbreviation and its value a line."""
    lines = [
        ("LS", value["note"]),
        ("KD", value["customer"]),
        ("BST", value["their_order"]),
        ("EMPF", value["consignee"]),
        ("LAD", _day(value["loaded"])),
        ("FIX", _day(value["deliver_by"])),
        ("BTO", _kilos(value["gross_kg"])),
        ("COL", rng.randint(34, 90)),
        ("PAL", value["pallets"]),
        ("FHR", value["driver"]),
        ("KFZ", value["truck"]),
        ("BEM", remark),
    ]
    return "\n".join(f"{label:<5}{'-' if text is None else text}" for label, text in lines)


def slip(value: dict[str, Any], remark: str, rng: Random) -> str:
    """Write everything in a few dense lines."""
    first = f"*{value['note']}* K{value['customer']} > {value['consignee']}"
    second = f"ab {_day(value['loaded'])}"
    if value["deliver_by"] is not None:
        second += f" bis {_day(value['deliver_by'])}"
    if value["their_order"] is not None:
        second += f" // Ihr {value['their_order']}"
    goods = [f"{rng.randint(34, 90)} Co"]
    if value["pallets"] is not None:
        goods.append(f"{value['pallets']} EP")
    if value["gross_kg"] is not None:
        goods.append(f"{_kilos(value['gross_kg'])} bto")
    who = " ".join(str(text) for text in (value["truck"], value["driver"]) if text is not None)
    return "\n".join(line for line in (first, second, ", ".join(goods), who, remark) if line)


def table(value: dict[str, Any], remark: str, rng: Random) -> str:
    """Write labels in one line and values in the next."""
    upper = (value["note"], value["customer"], value["their_order"], _day(value["loaded"]))
    lower = (value["pallets"], _kilos(value["gross_kg"]), _day(value["deliver_by"]), value["truck"])
    parts = [
        _row(("LS", "KD", "BST", "LAD")),
        _row(upper),
        f"an: {value['consignee']}   Dispo {rng.randint(20000, 29999)}",
        _row(("PAL", "BTO", "FIX", "KFZ")),
        _row(lower),
        f"FHR {value['driver'] or '?'}; {remark}",
    ]
    return "\n".join(parts)


LAYOUTS: tuple[Callable[[dict[str, Any], str, Random], str], ...] = (block, slip, table)


def _day(text: str | None) -> str | None:
    return None if text is None else date.fromisoformat(text).strftime("%d.%m.%Y")


def _kilos(number: float | None) -> str | None:
    return None if number is None else f"{number:g}"


def _row(texts: tuple[object, ...]) -> str:
    return " | ".join(f"{'' if text is None else text!s:<12}" for text in texts).rstrip()


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    for split, number in (("train", 200), ("val", 20), ("test", 80)):
        parser.add_argument(f"--{split}", type=int, default=number)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--message", action="store_true")
    arguments = parser.parse_args()
    rng = Random(arguments.seed)
    splits = [s for s in ("train", "val", "test") for _ in range(getattr(arguments, s))]
    with arguments.out.open("w", encoding="utf-8") as file:
        for split in splits:
            context, value, text = note(rng)
            schema = SCHEMA
            if arguments.message:
                schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "message": MESSAGE}}
                value = {**value, "message": text}
            row = {"context": context, "schema": schema, "value": value, "split": split}
            row["options"] = {"date_order": "DMY"}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
