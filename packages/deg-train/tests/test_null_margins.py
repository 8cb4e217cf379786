from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from deg_model import DegModel
from deg_runtime import Engine
from deg_train.cli import main
from deg_train.null_margins import Weighed, best_margin, result_at, weigh
from deg_train.records import Record

WEIGHED = st.lists(
    st.builds(
        Weighed,
        st.floats(-5, 5) | st.just(-math.inf),
        is_right=st.booleans(),
        is_null=st.booleans(),
    ).filter(lambda each: not (each.is_right and each.is_null)),
    min_size=1,
    max_size=30,
)


@given(WEIGHED, st.floats(-6, 6))
def test_no_margin_is_better_than_the_best(weighed: list[Weighed], margin: float) -> None:
    best = best_margin(weighed)
    assert best.num_right >= result_at(margin, weighed).num_right
    assert best.num_right >= result_at(0.0, weighed).num_right


def test_a_margin_trades_made_up_answers_for_omissions() -> None:
    weighed = [Weighed(2.0, True, False), Weighed(0.5, False, True), Weighed(-1.0, False, True)]
    assert best_margin(weighed).margin == 1.25
    assert result_at(0.0, weighed).line() == (
        "margin +0.00   right 0.667   present 1.000   null precision 1.000   recall 0.500   n 3"
    )


def test_without_fields_that_may_be_null_there_is_nothing_to_choose() -> None:
    with pytest.raises(ValueError, match="may be null"):
        best_margin([])


@pytest.mark.parametrize("margin", [-3.0, 0.0, 0.7, 3.0])
def test_what_is_weighed_is_what_the_engine_answers(
    model: DegModel, records: list[Record], margin: float
) -> None:
    # a tiny model that knows nothing: nearly every field is a close call
    engine = Engine(model)
    weighed = weigh(engine, records)

    assert len(weighed) == len(records)
    requests = [(record.context, record.schema) for record in records]
    answered = engine.fill_many(requests, options={"null_margin": margin})
    said_null = sum(response["value"]["number"] is None for response in answered)  # type: ignore[index]
    assert result_at(margin, weighed).num_said_null == said_null


def test_the_command_prints_the_best_margin_last(
    checkpoint: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["null-margin", str(checkpoint), "--number", "6"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert all(line.startswith("margin ") for line in lines)
