from __future__ import annotations

from pathlib import Path

import pytest

from deg_train.generate import LibraryError, check_library, load_library
from deg_train.generate.__main__ import main

FIELDS = """\
number : invoice_id
  names: number, no, id, bill no, reference
  about: The number. | Which bill is it? | number as printed
topic : choice
  names: topic, category, theme, subject, kind
  about: What is it about? | Its topic | Theme of the message
  option billing: charges, refunds
  option other
"""


def write_library(root: Path, templates: str) -> Path:
    for folder, text in (("templates", templates), ("fields", FIELDS)):
        (root / folder).mkdir()
        (root / folder / "shop.txt").write_text(text)
    return root


def test_a_good_library_loads(tmp_path: Path) -> None:
    root = write_library(tmp_path, "=== shop.1\n{number} <topic: billing = a | other = b>\n")
    library = load_library(root)
    assert [template.id for template in library.domains["shop"].templates] == ["shop.1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{zip}", "templates/shop.txt:3: the key 'zip' is not declared"),
        ("{_zip}", "templates/shop.txt:3: unknown kind 'zip'"),
        ("<topic: x = a | other = b>", "templates/shop.txt:3: 'topic' has no label 'x'"),
        ("<number: x = a | other = b>", "only choice, yes-no and score have labels"),
        ("=== shop.1\n{number} {topic}", "shop.txt:3: the id 'shop.1' is already in"),
    ],
)
def test_a_fault_is_reported_with_its_place(tmp_path: Path, line: str, message: str) -> None:
    root = write_library(tmp_path, f"=== shop.1\n{{number}} {{topic}}\n{line}\n")
    with pytest.raises(LibraryError) as caught:
        load_library(root)
    assert message in str(caught.value)


def test_faulty_templates_are_left_out(tmp_path: Path) -> None:
    root = write_library(tmp_path, "=== a\n{number} {topic}\n=== b\n{number} {zip}\n")
    library, faults = check_library(root)
    assert [template.id for template in library.domains["shop"].templates] == ["a"]
    assert [fault.line for fault in faults] == [4]


def test_the_command_lists_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = write_library(tmp_path, "=== a\n{number} {zip}\n")
    assert main(["check", "--root", str(root)]) == 1
    assert "templates/shop.txt:2: the key 'zip'" in capsys.readouterr().out


def test_the_packaged_library_is_clean_and_broad() -> None:
    library = load_library()
    assert sum(len(domain.templates) for domain in library.domains.values()) >= 200
