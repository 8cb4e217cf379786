from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from deg_train.generate import ListSource
from deg_train.own import OwnRecords, RecordFile
from deg_train.own_source import OwnSource, with_filler
from deg_train.records import Record, check
from deg_train.sources import Sampler

OTHER = OwnRecords([Record("", {"type": "object", "properties": {}}, {}, {}, "other")])


def line(name: str, split: str = "train") -> str:
    schema = {"type": "object", "properties": {"who": {"type": "string"}}}
    row = {"context": name, "schema": schema, "value": {"who": name}, "split": split}
    return json.dumps(row) + "\n"


def make_source(*paths: Path, rehearse: float = 0.0, **options: object) -> OwnSource:
    files = [RecordFile.parse(str(path)) for path in paths]
    return OwnSource(files, OTHER, rehearse=rehearse, on_fault="stop", **options)  # type: ignore[arg-type]


def drawn(source: Sampler, num: int = 60) -> list[str]:
    rng = random.Random(0)
    return [source.sample(rng).context for _ in range(num)]


def test_own_records_are_drawn_beside_a_share_of_others(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(line("Ann"))
    counts = Counter(drawn(make_source(own, rehearse=0.25).at(0), 2000))
    assert 0.2 < counts[""] / 2000 < 0.3
    assert set(drawn(make_source(own).at(0))) == {"Ann"}
    with pytest.raises(ValueError, match=r"a share of 1\.0 leaves nothing"):
        make_source(own, rehearse=1.0)


def test_files_are_drawn_as_often_as_their_weights_say(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(line(name))
    source = make_source(tmp_path / "a", tmp_path / "b:3").at(0)
    assert 0.7 < Counter(drawn(source, 2000))["b"] / 2000 < 0.8


def test_a_file_takes_part_once_it_has_enough_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    few.write_text(line("x") + line("y", "val"))
    many.write_text(line("Ann") + line("Bob"))
    source = make_source(few, many, min_train=2, reload_every=10)
    assert set(drawn(source.at(0))) == {"Ann", "Bob"}
    assert f"{few} has 1 records for training, and 2 let it take part" in capsys.readouterr().err
    few.write_text(few.read_text() + line("z"))
    assert set(drawn(source.at(9))) == {"Ann", "Bob"}
    assert set(drawn(source.at(10))) == {"Ann", "Bob", "x", "z"}


def test_without_enough_records_nothing_is_drawn(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(line("Ann"))
    with pytest.raises(ValueError, match="or lower --source-min-train"):
        make_source(own, min_train=2).at(0)


def test_a_fault_names_its_line_in_the_whole_file(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(line("Ann") + "\n")
    source = make_source(own, reload_every=5)
    source.at(0)
    own.write_text(own.read_text() + line("Bob") + "[]\n")
    with pytest.raises(ValueError, match="line 4: a line is an object"):
        source.at(5)


def test_an_unfinished_line_waits_for_the_next_reading(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(line("Ann") + line("Bob")[:30])
    source = make_source(own, reload_every=5)
    assert set(drawn(source.at(4))) == {"Ann"}
    own.write_text(line("Ann") + line("Bob"))
    assert set(drawn(source.at(5))) == {"Ann", "Bob"}


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(1, 5), st.data())
@settings(max_examples=30, deadline=None)
def test_a_resumed_run_draws_what_an_unbroken_one_would(
    tmp_path_factory: pytest.TempPathFactory, growth: list[int], every: int, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("growing")
    own, notes = folder / "own.jsonl", folder / "readings.jsonl"
    own.write_text(line("first"))
    whole = make_source(own, reload_every=every, notes=notes)
    unbroken = []
    for step, num_new in enumerate(growth):
        unbroken.append(drawn(whole.at(step)))
        with own.open("a") as file:
            file.writelines(line(f"{step}/{number}") for number in range(num_new))
    stopped = data.draw(st.integers(1, len(growth)))
    resumed = make_source(own, reload_every=every, notes=notes)
    assert [drawn(resumed.at(step)) for step in range(stopped, len(growth))] == unbroken[stopped:]


def test_a_run_that_begins_anew_forgets_what_another_read(tmp_path: Path) -> None:
    own, notes = tmp_path / "own.jsonl", tmp_path / "readings.jsonl"
    own.write_text(line("Ann"))
    make_source(own, notes=notes).at(0)
    own.write_text(line("Bob"))
    assert set(drawn(make_source(own, notes=notes).at(0))) == {"Bob"}


@pytest.mark.parametrize("after", [line("Bob"), "", line("Eve") * 2])
def test_a_file_that_changed_cannot_be_gone_on_with(after: str, tmp_path: Path) -> None:
    own, notes = tmp_path / "own.jsonl", tmp_path / "readings.jsonl"
    own.write_text(line("Ann"))
    make_source(own, notes=notes).at(0)
    own.write_text(after)
    with pytest.raises(ValueError, match="no longer what this run read"):
        make_source(own, notes=notes).at(3)


def test_filler_hides_a_share_of_the_documents() -> None:
    plain = OwnRecords(ListSource("val").records(20, 1))
    assert with_filler(plain, 0.0) is plain
    filled = with_filler(plain, 0.5)
    rng = random.Random(3)
    records = [filled.sample(rng) for _ in range(200)]
    texts = {record.context for record in ListSource("val").records(20, 1)}
    num_changed = sum(record.context not in texts for record in records)
    # a record without a list that may be empty stays as it is
    assert 60 < num_changed < 120
    for record in records:
        check(record)
    assert any(not record.spans for record in records)
