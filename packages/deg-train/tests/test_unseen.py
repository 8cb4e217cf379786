from __future__ import annotations

from collections import Counter
from functools import partial

from deg_schema import compile_schema
from deg_train.generate.library import default_library
from deg_train.generate.unseen import UnseenDecisions, choice, scale, unseen_library, yes_no
from deg_train.records import Record


def test_unseen_domains_are_read_by_no_training_source() -> None:
    unseen, trained = unseen_library().domains, default_library().domains
    assert len(unseen) >= 10
    assert not unseen.keys() & trained.keys()
    asked = {
        about for domain in trained.values() for f in domain.fields.values() for about in f.abouts
    }
    for domain in unseen.values():
        for spec in domain.fields.values():
            if spec.kind != "choice":
                assert not asked & {each for each in spec.abouts if each.endswith("?")}, spec.key


def answers(records: list[Record]) -> Counter[object]:
    return Counter(value for record in records for value in record.value.values())


def test_yes_and_no_are_equally_frequent() -> None:
    for phrase in (yes_no, partial(yes_no, negation=True)):
        assert answers(UnseenDecisions("yes-no", phrase).records(40, 1)) == {True: 20, False: 20}


def test_a_negated_question_never_reads_like_its_plain_one() -> None:
    plain = {
        about
        for domain in unseen_library().domains.values()
        for spec in domain.fields.values()
        for about in spec.abouts
    }
    source = UnseenDecisions("yes-no", partial(yes_no, negation=True))
    for record in source.records(60, 2):
        (leaf,) = record.schema["properties"].values()
        assert leaf["description"] not in plain


def test_a_scale_has_words_for_all_levels_or_for_none() -> None:
    for labelled in (True, False):
        for record in UnseenDecisions("score", partial(scale, labelled=labelled)).records(20, 3):
            (leaf,) = record.schema["properties"].values()
            levels = range(leaf["minimum"], leaf["maximum"] + 1)
            assert set(leaf.get("x-levels", {})) == ({*map(str, levels)} if labelled else set())
            assert next(iter(record.value.values())) in levels


def test_the_answer_of_a_choice_is_one_of_its_options() -> None:
    for record in UnseenDecisions("choice", choice).records(20, 4):
        (field,) = compile_schema(record.schema).fields
        assert next(iter(record.value.values())) in field.options
