import subprocess
import sys

import deg_schema


def test_public_names_are_sorted_and_there() -> None:
    assert list(deg_schema.__all__) == sorted(deg_schema.__all__)
    assert all(hasattr(deg_schema, name) for name in deg_schema.__all__)


def test_the_public_names() -> None:
    assert set(deg_schema.__all__) == {
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
    }


def test_importing_stays_light() -> None:
    program = (
        "import sys, deg_schema; "
        "heavy = {'torch', 'numpy', 'jsonschema', 'regex', 'transformers'} & set(sys.modules); "
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
