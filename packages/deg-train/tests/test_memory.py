from __future__ import annotations

import random

import pytest
from hypothesis import given, settings, strategies as st

from deg_model import EncodedContext, Fork
from deg_train.batches import collate, pack
from deg_train.memory import Costs, Planner, Unit, sizes, smaller
from deg_train.passes import TRUNK_CHUNK
from deg_train.questions import Example, Question

# layouts are tensors, which take their time on a busy machine
some = settings(deadline=None)
HEADS = ("extract", "choice", "count", "anchor", "noul")


@st.composite
def examples(draw: st.DrawFn) -> Example:
    num = draw(st.integers(2, 60))
    context = EncodedContext((draw(st.integers(0, 9)),) * num, 0, (0,) * num, (0,) * num)
    lengths = draw(st.lists(st.integers(2, 30), min_size=1, max_size=7))
    heads = [HEADS[length % 5] for length in lengths]
    questions = (
        Question(Fork((length,) * length, (), head), spans=((0, 1),) if head == "extract" else ())
        for length, head in zip(lengths, heads, strict=True)
    )
    return Example(context, tuple(questions))


prices = st.tuples(*[st.integers(0, 9)] * 9)


@st.composite
def planners(draw: st.DrawFn) -> Planner:
    return Planner(
        Costs(draw(prices), draw(prices), 5.0),
        num_layers=draw(st.integers(1, 30)),
        state_bytes=draw(st.integers(0, 9)),
        leaf_bytes=draw(st.integers(0, 99)),
        budget=draw(st.integers(1, 100_000)),
        factor=draw(st.sampled_from([0.5, 1.0, 1.7])),
    )


def planned(planner: Planner, drawn: list[Example]) -> list[Unit]:
    return [unit for batch in pack(drawn, 100) for unit in planner.plan(batch)]


@some
@given(planners(), st.lists(examples(), max_size=5))
def test_a_plan_holds_every_row_once(planner: Planner, drawn: list[Example]) -> None:
    units = planned(planner, drawn)
    rows = [row.question for unit in units for part in unit.parts for row in part.rows]
    asked = [question for example in drawn for question in example.questions]
    assert sorted(map(id, rows)) == sorted(map(id, asked))


@some
@given(planners(), st.lists(examples(), max_size=5))
def test_a_plan_is_within_its_budget_unless_a_unit_is_the_smallest(
    planner: Planner, drawn: list[Example]
) -> None:
    for unit in planned(planner, drawn):
        num_rows = len(unit.batch.rows)
        is_smallest = len(unit.batch.contexts) == 1 and unit.num_parts == num_rows
        assert planner.predict(unit) <= planner.budget or (is_smallest and unit.recompute)


@some
@given(planners(), st.lists(examples(), max_size=5), st.randoms())
def test_a_plan_does_not_depend_on_the_order_of_examples(
    planner: Planner, drawn: list[Example], rng: random.Random
) -> None:
    def shapes(some: list[Example]) -> list[tuple[object, ...]]:
        units = planned(planner, some)
        return [(sizes(unit.batch), unit.num_parts, unit.recompute) for unit in units]

    shuffled = list(drawn)
    rng.shuffle(shuffled)
    assert shapes(shuffled) == shapes(drawn)


@some
@given(planners(), examples())
def test_a_larger_budget_never_computes_more(planner: Planner, drawn: Example) -> None:
    (batch,) = pack([drawn], 1)
    costs = []
    for budget in (planner.budget, 2 * planner.budget):
        (unit,) = Planner(
            planner.costs, planner.num_layers, planner.state_bytes, planner.leaf_bytes, budget
        ).plan(batch)
        costs.append((unit.recompute, unit.num_parts))
    assert costs[1] <= costs[0]


@some
@given(st.lists(examples(), min_size=1, max_size=4))
def test_what_memory_fails_at_gets_smaller_until_nothing_is(drawn: list[Example]) -> None:
    last, rows = [Unit(collate(drawn), num_parts=1)], 0
    while last:
        unit = last.pop()
        parts = smaller(unit)
        held = sorted(id(row.question) for part in parts for row in part.batch.rows)
        if parts:
            assert held == sorted(id(row.question) for row in unit.batch.rows)
        else:
            rows += len(unit.batch.rows)
            assert len(unit.batch.rows) == 1
        last += parts
    assert rows == sum(len(example.questions) for example in drawn)


@given(planners())
def test_a_planner_reads_back_what_it_wrote(planner: Planner) -> None:
    assert Planner.from_json(planner.to_json()) == planner


def plain(budget: int = 1000) -> Planner:
    # of so many layers one takes next to nothing
    return Planner(Costs((1, 0, 0, 1, 0, 0, 0, 0, 0), (0,) * 9, 5.0), 10**9, 0, 0, budget)


def some_unit(num_tokens: int) -> Unit:
    context = EncodedContext((0,) * num_tokens, 0, (0,) * num_tokens, (0,) * num_tokens)
    return Unit(collate([Example(context, (Question(Fork((1, 2), (), "noul")),))]))


def test_the_largest_unit_measured_corrects_the_planner() -> None:
    small, large = some_unit(8), some_unit(98)
    planner = plain().corrected([(small, 5 + 40), (large, 5 + 150)])
    assert planner.keeps(large) == 150
    assert planner.predict(large) == pytest.approx(1.5 * plain().predict(large))
    assert planner.corrected([(small, 5 + 10)]) == planner
    assert planner.plan(small.batch) == [small]
    assert planner.plan(some_unit(198).batch)[0].is_measured


def test_what_is_read_in_chunks_corrects_nothing() -> None:
    short, long = some_unit(TRUNK_CHUNK), some_unit(TRUNK_CHUNK + 1)
    marks = [plain(10**9).plan(unit.batch)[0].is_measured for unit in (short, long)]
    assert marks == [True, False]


@pytest.mark.parametrize("recompute", [False, True])
def test_of_a_context_read_in_chunks_one_chunk_of_one_layer_is_read_back_at_a_time(
    recompute: bool,
) -> None:
    costs = Costs((1, 0, 0, 0, 0, 0, 0, 0, 0), (0,) * 9, 0.0)
    planner = Planner(costs, num_layers=2, state_bytes=0, leaf_bytes=0, budget=10**9)
    short, long = some_unit(TRUNK_CHUNK // 2).batch, some_unit(4 * TRUNK_CHUNK).batch
    assert planner.keeps(Unit(long, 1, recompute)) == 0
    # computed again, then read back, which takes four times as much beside
    assert planner.predict(Unit(long, 1, recompute)) == (1 + 4) * TRUNK_CHUNK / 2
    kept, again = (0, 1) if recompute else (TRUNK_CHUNK / 2, 0)
    assert planner.predict(Unit(short, 1, recompute)) == kept + (again + 4) * TRUNK_CHUNK / 4


def test_a_failure_leaves_less_to_plan_for_but_half_of_it_at_least() -> None:
    assert plain(100).shrunk([some_unit(98)]).budget == 80
    assert plain(100).shrunk([some_unit(98), some_unit(8)]).budget == 50
    assert plain(100).shrunk([]) == plain(100)


def test_scores_of_a_context_read_in_chunks_grow_with_its_length_alone() -> None:
    one, two = (sizes(some_unit(num * TRUNK_CHUNK).batch)[1] for num in (1, 2))
    assert two == 2 * one
