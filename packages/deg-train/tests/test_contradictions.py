from __future__ import annotations

from random import Random

from deg_model import Tokenizer
from deg_train.generate import BareSource, ContradictionSource, ForeignSource
from deg_train.generate.bare import SELF_EVIDENT
from deg_train.generate.foreign import LANGUAGES
from deg_train.generate.kinds import HELD_OUT_KINDS, KINDS
from deg_train.questions import example_of


def test_a_correction_counts_and_a_standoff_does_not(tokenizer: Tokenizer) -> None:
    source, rng = ContradictionSource(), Random(3)
    answers = set()
    for _ in range(60):
        record = source.sample(rng)
        (answer,) = record.value.values()
        answers.add("even" if record.probabilities else answer)
        (question,) = example_of(record, tokenizer).questions
        assert question.probabilities == ((0.5, 0.5) if record.probabilities else ())
    assert answers == {True, False, None, "even"}


def test_bare_documents_have_no_labels() -> None:
    assert SELF_EVIDENT <= KINDS - HELD_OUT_KINDS
    source, rng = BareSource(), Random(1)
    for _ in range(20):
        record = source.sample(rng)
        # what is printed between values is no word
        assert record.spans
        assert ": " not in record.context


def test_foreign_forms_show_the_labels_of_one_language() -> None:
    source, rng = ForeignSource(), Random(1)
    contexts = [source.sample(rng).context for _ in range(60)]
    labels = {
        name: {label for domain in each.labels.values() for label in domain.values()}
        for name, each in LANGUAGES.items()
    }
    for found in labels.values():
        assert any(label in context for label in found for context in contexts)


def test_a_language_has_twelve_months_and_a_label_for_every_field() -> None:
    for language in LANGUAGES.values():
        assert len(set(language.months)) == 12
        assert {len(labels) for labels in language.labels.values()} == {8, 11}
