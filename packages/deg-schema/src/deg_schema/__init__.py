"""The deg contract: schemas compiled to fill plans, requests, parsers and responses."""

from deg_schema._version import __version__
from deg_schema.adapt import Note, adapt, obstacles
from deg_schema.candidates import find_candidates, has_candidates
from deg_schema.compile import compile_schema
from deg_schema.dates import parse_date
from deg_schema.datetimes import DateTime, parse_datetime
from deg_schema.errors import (
    DegError,
    DegSchemaError,
    FillError,
    InvalidPointer,
    PlanError,
    Problem,
    RequestError,
    SchemaError,
)
from deg_schema.failure import Failure
from deg_schema.formats import is_format
from deg_schema.numbers import parse_number
from deg_schema.outcomes import (
    Decided,
    Extracted,
    Generated,
    Items,
    Missing,
    Outcome,
    confidence_of,
)
from deg_schema.patterns import Pattern, parse_pattern, search_pattern
from deg_schema.plan import (
    ArrayPlan,
    Constraints,
    FieldPlan,
    FillPlan,
    JsonScalar,
    LeafType,
    Mode,
    Number,
    ObjectPlan,
    OnNull,
)
from deg_schema.plan_json import plan_from_json, plan_to_json
from deg_schema.pointer import Pointer
from deg_schema.reading import Reading, read_span
from deg_schema.request import FillRequest, Options, parse_options, parse_request, render_context
from deg_schema.response import assemble
from deg_schema.settled import Settled, SettledPart, Unwritten, settle
from deg_schema.tree import split_plan
from deg_schema.trim import trim_span
from deg_schema.validate import value_problems

__all__ = [
    "ArrayPlan",
    "Constraints",
    "DateTime",
    "Decided",
    "DegError",
    "DegSchemaError",
    "Extracted",
    "Failure",
    "FieldPlan",
    "FillError",
    "FillPlan",
    "FillRequest",
    "Generated",
    "InvalidPointer",
    "Items",
    "JsonScalar",
    "LeafType",
    "Missing",
    "Mode",
    "Note",
    "Number",
    "ObjectPlan",
    "OnNull",
    "Options",
    "Outcome",
    "Pattern",
    "PlanError",
    "Pointer",
    "Problem",
    "Reading",
    "RequestError",
    "SchemaError",
    "Settled",
    "SettledPart",
    "Unwritten",
    "__version__",
    "adapt",
    "assemble",
    "compile_schema",
    "confidence_of",
    "find_candidates",
    "has_candidates",
    "is_format",
    "obstacles",
    "parse_date",
    "parse_datetime",
    "parse_number",
    "parse_options",
    "parse_pattern",
    "parse_request",
    "plan_from_json",
    "plan_to_json",
    "read_span",
    "render_context",
    "search_pattern",
    "settle",
    "split_plan",
    "trim_span",
    "value_problems",
]
