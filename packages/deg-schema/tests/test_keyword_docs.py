from __future__ import annotations

import re
from pathlib import Path

import pytest

from deg_schema import keywords, limits
from deg_schema.compile import compile_schema
from deg_schema.errors import SchemaError

TEXT = (Path(__file__).parents[3] / "docs" / "keywords.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.+?)` \| (\w+) \| (.+?) \|$", TEXT, re.MULTILINE)
STATUS = {keyword: status for keyword, status, _ in ROWS}
REFUSED = sorted(keyword for keyword, status in STATUS.items() if status == "refused")
LIMITS = {
    "MAX_NESTING": "nested objects and arrays in the document",
    "MAX_VALUES": "values in the document",
    "MAX_TEXT": "characters of one text",
    "MAX_INTEGER_BITS": "bits of one integer",
    "MAX_DEPTH": "nested schemas, references followed",
    "MAX_FIELDS": "schemas in all, references followed",
    "MAX_OPTIONS": "options of one choice",
    "MAX_OPTIONS_IN_ALL": "options in all",
    "MAX_SCORE_LEVELS": "levels of a scale; an integer with more values is copied",
    "MAX_MIN_ITEMS": "`minItems`",
    "MAX_UNANCHORED_ITEMS": "items counted where `maxItems` does not say",
    "MAX_PATTERN_LENGTH": "characters of a pattern",
    "MAX_PATTERN_DEPTH": "nested groups of a pattern",
    "MAX_PATTERN_SIZE": "terms of a pattern, its repetitions written out",
    "MAX_PATTERN_COST": "terms of all patterns; one that takes time to search has more",
    "MAX_PROBLEMS": "problems told at once",
}


def test_the_table_has_each_keyword_that_the_compiler_knows_and_no_other() -> None:
    known = {*keywords.KNOWN, *keywords.UNSUPPORTED, *keywords._HINTS}
    assert len(ROWS) == len(STATUS)
    assert STATUS.keys() == known


def test_the_table_refuses_what_the_compiler_never_takes() -> None:
    # a constant is read where it is an option
    refused = {*keywords.UNSUPPORTED, *keywords._HINTS} - {"const"}
    assert set(REFUSED) == refused
    assert {STATUS[keyword] for keyword in STATUS.keys() - refused} == {"supported", "limited"}


@pytest.mark.parametrize("keyword", REFUSED)
def test_what_is_refused_is_a_problem_that_names_it(keyword: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", keyword: 1}}}
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    (problem,) = caught.value.problems
    assert problem.loc == f"/properties/a/{keyword}"
    assert f"'{keyword}'" in problem.msg


@pytest.mark.parametrize("keyword", sorted(STATUS))
def test_each_keyword_says_what_it_does_in_a_sentence(keyword: str) -> None:
    says = next(says for name, _, says in ROWS if name == keyword)
    assert not says[0].islower()
    assert says.endswith(".")


def test_each_limit_is_told_and_no_other() -> None:
    table = TEXT.partition("## Limits")[2]
    told = dict(re.findall(r"^\| (.+) \| ([\d,]+) \|$", table, re.MULTILINE))
    assert told == {what: f"{getattr(limits, name):,}" for name, what in LIMITS.items()}
    assert LIMITS.keys() == set(limits.__all__)


def test_each_format_and_draft_is_told() -> None:
    assert all(f"`{name}`" in TEXT for name in keywords.FORMATS)
    assert "Draft 4, 6, 7, 2019-09 or 2020-12" in TEXT
    assert sorted(keywords.DRAFTS.values()) == [4, 6, 7, 2019, 2020]


def test_the_page_is_in_the_navigation() -> None:
    root = Path(__file__).parents[3]
    assert "keywords.md" in (root / "mkdocs.yml").read_text(encoding="utf-8")
    for page in ("index.md", "schemas.md"):
        assert "(keywords.md)" in (root / "docs" / page).read_text(encoding="utf-8")
