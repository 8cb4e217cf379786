from __future__ import annotations

import os
from pathlib import Path

import pytest

from deg_schema.paths import Unmatched, expand


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run each test in a folder of three schemas, a hidden one and a text."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b/c.json", "b/d/e.json", ".hidden/f.json", "g.txt"):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    return tmp_path


def _paths(*names: str) -> list[str]:
    found = list(expand(names))
    assert not any(isinstance(path, Unmatched) for path in found)
    return [str(path).replace(os.sep, "/") for path in found]


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("a.json", ["a.json"]),
        ("none.json", ["none.json"]),
        ("-", ["-"]),
        ("*.json", ["a.json"]),
        ("**/*.json", ["a.json", "b/c.json", "b/d/e.json"]),
        ("b/**/*.json", ["b/c.json", "b/d/e.json"]),
        ("[ab].json", ["a.json"]),
        (".", ["a.json", "b/c.json", "b/d/e.json"]),
        ("b", ["b/c.json", "b/d/e.json"]),
        ("b/", ["b/c.json", "b/d/e.json"]),
        (".hidden", [".hidden/f.json"]),
    ],
)
def test_a_name_stands_for_files(name: str, paths: list[str]) -> None:
    assert _paths(name) == paths


@pytest.mark.parametrize("name", ["*.yaml", "x/**/*.json", "b/d/*/"])
def test_a_glob_that_nothing_matches_is_told(name: str) -> None:
    assert list(expand([name])) == [Unmatched(name, "no file matches")]


def test_a_folder_without_schemas_is_told() -> None:
    Path("empty").mkdir()
    (found,) = expand(["empty"])
    assert found == Unmatched("empty", "no *.json file lies in this folder")


def test_each_file_comes_once() -> None:
    assert _paths("a.json", "./a.json", "*.json", str(Path("a.json").resolve()), "-", "-") == [
        "a.json",
        "-",
    ]


def test_a_name_as_a_glob_is_spelled_is_the_file_of_that_name() -> None:
    Path("[x].json").write_text("{}", encoding="utf-8")
    assert _paths("[x].json") == ["[x].json"]
    Path("[y]").mkdir()
    Path("[y]/z.json").write_text("{}", encoding="utf-8")
    assert _paths("[y]") == ["[y]/z.json"]


def test_a_link_to_its_own_folder_ends() -> None:
    Path("b/again").symlink_to(Path("b").resolve(), target_is_directory=True)
    assert _paths("b") == ["b/c.json", "b/d/e.json"]
