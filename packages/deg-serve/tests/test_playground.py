from __future__ import annotations

import json
import re
import shutil
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from deg_runtime import FieldDone, Filled, TextPiece
from deg_schema import (
    Decided,
    DegError,
    Extracted,
    Generated,
    Items,
    Missing,
    Options,
    Outcome,
    assemble,
    compile_schema,
    settle,
)
from deg_serve import create_app
from deg_serve.keys import Keys

try:
    from playwright import sync_api
except ImportError:
    HAS_PLAYWRIGHT = False
else:
    HAS_PLAYWRIGHT = True

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
NO_BROWSER = "no chromium on the PATH" if HAS_PLAYWRIGHT else "playwright is not installed"
needs_chromium = pytest.mark.skipif(not HAS_PLAYWRIGHT or CHROMIUM is None, reason=NO_BROWSER)

MARKUP = "<img src=x onerror=alert(1)>"
EXAMPLES = Path(__file__).parents[3] / "examples"
# what the stand-in reads, where it is written: the field, how it is written, and its value
READ: list[tuple[str, str, str | float]] = [
    ("order_number", "FW-2026-48817", "FW-2026-48817"),
    ("order_number", "NB-2207-58", "NB-2207-58"),
    ("product", "Halden 160 standing desk", "Halden 160 standing desk"),
    (
        "customer_email",
        "marta.lindqvist@nordhavn-studio.example",
        "marta.lindqvist@nordhavn-studio.example",
    ),
    ("delivered_on", "27 February 2026", "2026-02-27"),
    ("price_paid", "689.00", 689.0),
    ("serial_number", "LX-90-1182", "LX-90-1182"),
    ("animal", "🦊 fox", "🦊 fox"),
    ("after", "den", "den"),
    ("markup", MARKUP, MARKUP),
]
ROWS: list[list[tuple[str, str, str | float]]] = [
    [("product", "Beeswax candle", "Beeswax candle"), ("quantity", "3 pieces", 3)],
    [("product", "Linen thread", "Linen thread"), ("quantity", "2 spools", 2)],
]
TEXT = "Thank you, dear Jule."


class StandIn:
    """Reads what `READ` and `ROWS` say, decides for the first outcome, and writes `TEXT`."""

    model_id = "deg-stand-in"

    def __init__(self) -> None:
        self.seen: list[tuple[str, Mapping[str, Any], Options]] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def fill_many(
        self, requests: Sequence[tuple[str, Mapping[str, Any], Options]], **_: object
    ) -> list[dict[str, Any] | DegError]:
        self.seen.extend(requests)
        return [self.respond(context, schema) for context, schema, _ in requests]

    def stream(
        self, context: str, schema: Mapping[str, Any], *, options: Options
    ) -> Iterator[FieldDone | TextPiece | Filled]:
        self.seen.append((context, schema, options))
        plan = compile_schema(schema)
        settled = settle(plan, outcomes(context, schema, written=False))
        for part in settled.parts:
            yield FieldDone(part.pointer, part.meta, part.has_value, part.value)
        for text in settled.texts:
            yield TextPiece(text.pointer, TEXT[:9])
            self.may_go_on.wait(timeout=20)
            yield TextPiece(text.pointer, TEXT[9:])
        yield Filled(self.respond(context, schema))

    def respond(self, context: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        return assemble(
            compile_schema(schema),
            schema,
            outcomes(context, schema),
            model=self.model_id,
            prompt_tokens=1234,
            cached_tokens=1000,
        )


def outcomes(
    context: str, schema: Mapping[str, Any], *, written: bool = True
) -> dict[str, Outcome]:
    plan = compile_schema(schema)
    found: dict[str, Outcome] = {array.pointer: Items(len(ROWS)) for array in plan.arrays}
    for field in plan.fields:
        name = field.path[-1]
        if field.mode == "generate":
            if written:
                found[field.pointer] = Generated(TEXT, 7)
        elif field.mode.startswith("decide"):
            rest = 0.25 / (field.num_outcomes - 1)
            found[field.pointer] = Decided((0.75, *[rest] * (field.num_outcomes - 1)))
        elif field.item_steps:
            for index, row in enumerate(ROWS):
                found[field.pointer_at([index])] = read(context, row, name)
        else:
            found[field.pointer] = read(context, READ, name)
    return found


def read(context: str, known: Sequence[tuple[str, str, str | float]], field: str) -> Outcome:
    for name, written, value in known:
        if name == field and written in context:
            start = context.index(written)
            return Extracted(value, (start, start + len(written)), 0.875)
    return Missing("not_found", 0.625)


@contextmanager
def serving(engine: StandIn, *, keys: Keys | None = None) -> Iterator[str]:
    config = uvicorn.Config(create_app(engine, keys=keys), log_level="critical", lifespan="on")
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def engine() -> StandIn:
    return StandIn()


@pytest.fixture(scope="module")
def url(engine: StandIn) -> Iterator[str]:
    with serving(engine) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, url: str, engine: StandIn) -> Iterator[Any]:
    engine.seen.clear()
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(20_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.goto(url)
    expect(page.locator("#schema")).to_have_value(re.compile("order_number"))
    yield page
    context.close()
    # a status that a test asks for is told on the console too
    assert [one for one in complaints if "Failed to load resource" not in one] == []


def write(page: Any, document: str, schema: Mapping[str, Any]) -> None:
    page.get_by_role("textbox", name="Document").fill(document)
    page.get_by_role("textbox", name="JSON Schema").fill(json.dumps(schema))


def run(page: Any) -> None:
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#status")).to_have_text(re.compile("^Filled in"))


def marks(page: Any) -> list[str]:
    texts: list[str] = page.locator("#marked .mark").all_inner_texts()
    return texts


def expect(locator: Any) -> Any:
    return sync_api.expect(locator)


def width_of_page(page: Any) -> int:
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width


TEXT_FIELD = {"type": ["string", "null"]}


@needs_chromium
def test_an_example_shows_where_each_value_stands(page: Any) -> None:
    run(page)
    assert marks(page) == [
        "marta.lindqvist@nordhavn-studio.example",
        "Halden 160 standing desk",
        "FW-2026-48817",
        "27 February 2026",
        "689.00",
    ]
    card = page.get_by_role("article", name="delivered_on")
    expect(card).to_contain_text("2026-02-27")
    expect(card).to_contain_text("written 27 February 2026")
    expect(page.get_by_role("article", name="tracking_number")).to_contain_text("nothing in the")
    bars = page.get_by_role("article", name="team").locator("li")
    assert bars.all_inner_texts()[0].split("\n") == ["billing", "75 %"]
    expect(page.locator("#facts")).to_contain_text("1,234 tokens, 1,000 cached")


@needs_chromium
def test_pointing_at_a_field_lights_its_mark_and_the_other_way_round(page: Any) -> None:
    run(page)
    mark = page.locator(".mark", has_text="FW-2026-48817")
    card = page.get_by_role("article", name="order_number")
    card.get_by_role("link").focus()
    expect(mark).to_have_class(re.compile(r"\bon\b"))
    page.locator(".mark", has_text="689.00").hover()
    expect(page.get_by_role("article", name="price_paid")).to_have_class(re.compile(r"\bon\b"))
    expect(mark).not_to_have_class(re.compile(r"\bon\b"))
    mark.click()
    expect(card.get_by_role("link")).to_be_focused()


@needs_chromium
def test_marks_stand_right_after_characters_of_two_units(page: Any) -> None:
    schema = {"type": "object", "properties": {"animal": TEXT_FIELD, "after": TEXT_FIELD}}
    write(page, "👩‍🚀 and 🌲🌲: the 🦊 fox left its den. 🏁", schema)
    run(page)
    assert marks(page) == ["🦊 fox", "den"]


@needs_chromium
def test_a_json_document_is_marked_where_the_server_reads_it(page: Any, engine: StandIn) -> None:
    schema = {"type": "object", "properties": {"serial_number": TEXT_FIELD}}
    document = '{"caf\\u00e9":[1.50,1e3,-0,{}],\n"🪔":{"says":"It is LX-90-1182 \\/ new"}}'
    write(page, document, schema)
    page.get_by_role("radio", name="JSON").check()
    run(page)
    rendered = '{"café": [1.5, 1000.0, 0, {}], "🪔": {"says": "It is LX-90-1182 / new"}}'
    assert engine.seen[0][0] == rendered
    assert marks(page) == ["LX-90-1182"]
    shown = page.locator("#marked").inner_text()
    assert json.loads(shown) == json.loads(rendered)


@needs_chromium
def test_items_stand_in_groups_and_a_text_grows(page: Any, engine: StandIn) -> None:
    page.get_by_label("Example").select_option(label="Delivery: list and written text")
    engine.may_go_on.clear()
    page.get_by_role("button", name="Run").click()
    reply = page.get_by_role("article", name="reply")
    expect(reply.locator(".value")).to_have_text(TEXT[:9])
    engine.may_go_on.set()
    expect(reply.locator(".value")).to_have_text(TEXT)
    expect(reply).to_contain_text("7 tokens")
    second = page.get_by_role("group", name="items 2")
    expect(second.get_by_role("article", name="product")).to_contain_text("Linen thread")


@needs_chromium
def test_the_keyboard_alone_writes_runs_and_reads(page: Any) -> None:
    page.locator("body").press("Tab")
    press_until(page, "Tab", "#document")
    page.keyboard.press("Control+a")
    page.keyboard.type("order FW-2026-48817")
    press_until(page, "Tab", "#schema")
    page.keyboard.press("Control+a")
    page.keyboard.type(json.dumps({"type": "object", "properties": {"order_number": TEXT_FIELD}}))
    page.keyboard.press("Control+Enter")
    expect(page.locator("#status")).to_have_text(re.compile("^Filled in"))
    expect(page.locator(".mark")).to_be_visible()
    press_until(page, "Tab", "#cards a")
    expect(page.locator(".mark")).to_have_class(re.compile(r"\bon\b"))
    page.keyboard.press("Enter")
    expect(page.locator(".mark")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#cards a")).to_be_focused()
    press_until(page, "Shift+Tab", "#tab-answer")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Request")).to_be_visible()


def press_until(page: Any, key: str, selector: str) -> None:
    for _ in range(40):
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    pytest.fail(f"{key} does not lead to {selector}")


@needs_chromium
@pytest.mark.parametrize("width", [320, 360, 1280])
def test_nothing_is_wider_than_the_screen(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    write(page, "x" * 4000, {"type": "object", "properties": {"n" * 90: TEXT_FIELD}})
    page.get_by_text("Add a field by form").click()
    assert width_of_page(page) <= width
    run(page)
    assert width_of_page(page) <= width
    page.get_by_role("tab", name="Request").click()
    assert width_of_page(page) <= width


@needs_chromium
def test_a_problem_of_the_schema_leads_to_its_line(page: Any) -> None:
    schema = '{\n  "type": "object",\n  "properties": {\n    "a": {"type": "strin"}\n  }\n}'
    page.get_by_role("textbox", name="JSON Schema").fill(schema)
    page.get_by_role("button", name="Run").click()
    problems = page.get_by_role("list", name="Problems of the schema")
    expect(problems).to_contain_text("/schema/properties/a")
    problems.get_by_role("button").first.click()
    selected = page.evaluate("getSelection().toString()")
    assert "strin" in selected
    expect(problems.get_by_role("button").first).to_have_text("line 4")


@needs_chromium
def test_what_is_no_json_is_told_while_one_writes_and_is_not_sent(
    page: Any, engine: StandIn
) -> None:
    page.get_by_role("textbox", name="JSON Schema").fill('{\n  "type": "object",\n}')
    state = page.locator("#schema-state")
    expect(state).to_have_text("line 3, column 1: a name in double quotes is expected here")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#status")).to_contain_text("The schema: a name")
    assert engine.seen == []


@needs_chromium
def test_a_value_that_cannot_be_filled_is_told_at_its_field(page: Any) -> None:
    animal = '"properties": {\n"animal": {"type": "string"}}'
    schema = '{"type": "object",\n' + animal + ',\n"required": ["animal"]}'
    write(page, "nothing is said here", json.loads(schema))
    page.get_by_role("textbox", name="JSON Schema").fill(schema)
    page.get_by_role("button", name="Run").click()
    problems = page.get_by_role("list", name="Problems", exact=True)
    expect(problems).to_contain_text("/animal the field is required")
    problems.get_by_role("button", name="line 3").click()
    assert page.evaluate("getSelection().toString()") == '{"type": "string"}'


@needs_chromium
def test_a_run_can_be_stopped(page: Any, engine: StandIn) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-generate": True}}}
    write(page, "a document", schema)
    engine.may_go_on.clear()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("article", name="a")).to_contain_text(TEXT[:9])
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#status")).to_have_text("Stopped")
    engine.may_go_on.set()
    run(page)
    expect(page.get_by_role("article", name="a")).to_contain_text(TEXT)


@needs_chromium
def test_a_stream_that_breaks_off_keeps_what_came(page: Any) -> None:
    meta = {"mode": "extract.span", "confidence": 0.5, "span": [0, 3]}
    event = json.dumps({"pointer": "/a", "meta": meta, "value": "The"})
    body = f": a comment\r\nevent: field\r\ndata: {event}\r\n\r\nevent: resp"
    headers = {"content-type": "text/event-stream"}
    page.route("**/v1/fill", lambda route: route.fulfill(body=body, headers=headers))
    write(page, "The end", {"type": "object", "properties": {"a": TEXT_FIELD, "b": TEXT_FIELD}})
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#status")).to_have_text("the stream ended before the answer was whole")
    expect(page.get_by_role("article")).to_have_count(1)
    assert marks(page) == ["The"]


@needs_chromium
def test_a_server_that_asks_for_a_key_gets_the_one_that_is_given(browser: Any) -> None:
    with serving(StandIn(), keys=Keys(["open-sesame"])) as url:
        page = browser.new_page()
        page.goto(url)
        expect(page.get_by_role("textbox", name="JSON Schema")).to_have_value(re.compile("team"))
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#status")).to_contain_text("carries no key")
        expect(page.get_by_label("API key")).to_be_focused()
        page.keyboard.type("open-sesame")
        run(page)
        assert page.evaluate("Object.keys({...localStorage, ...sessionStorage})") == []
        assert "open-sesame" not in page.evaluate("document.cookie + location.href")
        page.close()


@needs_chromium
def test_markup_in_a_document_or_a_schema_stays_text(page: Any) -> None:
    name = "<script>alert(2)</script>"
    about = "<b onmouseover=alert(3)>bold</b>"
    properties = {"markup": {**TEXT_FIELD, "description": about}, name: {"enum": [MARKUP, "b"]}}
    page.on("dialog", lambda dialog: pytest.fail("a script of the document has run"))
    write(page, f"see {MARKUP} here", {"type": "object", "properties": properties})
    run(page)
    assert marks(page) == [MARKUP]
    expect(page.get_by_role("article", name="markup")).to_contain_text(about)
    expect(page.get_by_role("article", name=name)).to_contain_text(MARKUP)
    assert page.locator("main :is(script, img, b[onmouseover])").count() == 0


@needs_chromium
@pytest.mark.parametrize("language", ["curl", "Python"])
def test_the_request_is_copied_without_the_key(page: Any, language: str) -> None:
    write(page, "It's 'FW-2026-48817' 🦊\n\"$HOME\"", {"type": "object", "properties": {"a": {}}})
    page.get_by_label("API key").fill("secret")
    page.get_by_role("tab", name="Request").click()
    page.get_by_role("radio", name=language).check()
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#status")).to_have_text("The request is copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "secret" not in copied
    assert "DEG_API_KEY" in copied
    if language == "Python":
        names: dict[str, Any] = {}
        exec(copied.split("from deg_client")[1].split("\n", 1)[1].split("with Client")[0], names)
        sent = names
    else:
        sent = json.loads(copied.partition("<<'JSON'\n")[2].removesuffix("JSON\n"))
    assert sent["context"] == "It's 'FW-2026-48817' 🦊\n\"$HOME\""
    assert sent["schema"] == {"type": "object", "properties": {"a": {}}}


@needs_chromium
def test_fields_are_added_and_removed_by_form(page: Any) -> None:
    page.get_by_role("textbox", name="JSON Schema").fill("")
    page.get_by_text("Add a field by form").click()
    page.get_by_label("Name", exact=True).fill("items[].price")
    page.get_by_label("Kind").select_option(label="number")
    page.get_by_label("What it is, in words").fill("Price of one")
    page.keyboard.press("Enter")
    page.get_by_label("Name", exact=True).fill("team")
    page.get_by_label("Kind").select_option(label="one of several")
    page.get_by_label("Choices").fill("a, b")
    page.get_by_label("null when it is not there").check()
    page.get_by_role("button", name="Add the field").click()
    schema = json.loads(page.get_by_role("textbox", name="JSON Schema").input_value())
    assert len(compile_schema(schema).fields) == 2
    price = {"type": "number", "description": "Price of one"}
    assert schema["properties"]["items"]["items"]["properties"] == {"price": price}
    assert schema["properties"]["team"] == {"enum": ["a", "b", None]}
    page.get_by_role("button", name="Remove items").click()
    schema = json.loads(page.get_by_role("textbox", name="JSON Schema").input_value())
    assert (list(schema["properties"]), schema["required"]) == (["team"], ["team"])


@needs_chromium
def test_a_file_that_is_dropped_is_opened(page: Any) -> None:
    drop = """([area, name, text]) => {
        const files = new DataTransfer();
        files.items.add(new File([text], name));
        const event = { dataTransfer: files, bubbles: true, cancelable: true };
        document.querySelector(area).dispatchEvent(new DragEvent("drop", event));
    }"""
    page.evaluate(drop, ["#document", "order.json", '{"order": "FW-2026-48817"}'])
    page.evaluate(drop, ["#schema", "schema.json", '{"properties": {}}'])
    expect(page.get_by_role("textbox", name="Document")).to_have_value('{"order": "FW-2026-48817"}')
    expect(page.get_by_role("radio", name="JSON")).to_be_checked()
    expect(page.get_by_role("textbox", name="JSON Schema")).to_have_value('{"properties": {}}')


@needs_chromium
def test_without_the_stream_the_answer_is_the_same(page: Any, engine: StandIn) -> None:
    run(page)
    streamed = page.locator("#cards").inner_text()
    page.get_by_text("Options").click()
    page.get_by_label("show fields as they are decided").uncheck()
    page.get_by_label("Order of 03/05/2026").select_option(label="day first")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#status")).to_have_text(re.compile("^Filled in"))
    assert page.locator("#cards").inner_text() == streamed
    assert [options.date_order for _, _, options in engine.seen] == [None, "DMY"]


def test_the_page_allows_nothing_from_elsewhere(url: str) -> None:
    response = httpx.get(url, trust_env=False)
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|https?://", response.text)
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/static/main.js", "text/javascript; charset=utf-8"),
        ("/static/base.css", "text/css; charset=utf-8"),
        ("/static/examples.json", "application/json"),
        ("/static/icon.svg", "image/svg+xml"),
    ],
)
def test_a_file_is_sent_again_only_when_it_changed(url: str, path: str, media_type: str) -> None:
    first = httpx.get(url + path, trust_env=False)
    etag = first.headers["etag"]
    assert (first.status_code, first.headers["content-type"]) == (200, media_type)
    assert first.headers["cache-control"] == "no-cache"
    again = httpx.get(url + path, headers={"if-none-match": f'"x", W/{etag}'}, trust_env=False)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    other = httpx.get(url + path, headers={"if-none-match": '"x"'}, trust_env=False)
    assert other.content == first.content


@pytest.mark.parametrize("name", ["none.js", "..%2fplayground.py", "../playground.py", "", "a/b"])
def test_no_other_file_can_be_had(url: str, name: str) -> None:
    assert httpx.get(f"{url}/static/{name}", trust_env=False).status_code == 404


def test_everything_that_the_page_names_is_there(url: str) -> None:
    page = httpx.get(url, trust_env=False).text
    names = re.findall(r'(?:src|href)="(static/[^"]+)"', page)
    assert len(names) == 5
    for name in names:
        assert httpx.get(f"{url}/{name}", trust_env=False).status_code == 200


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the repository's examples are not here")
def test_the_examples_are_those_of_the_repository(url: str) -> None:
    listed = httpx.get(f"{url}/static/examples.json", trust_env=False).json()
    shipped = {each["name"]: (each["document"], each["schema"]) for each in listed}
    for folder in EXAMPLES.iterdir():
        files = [folder / "document.txt", folder / "schema.json"]
        assert shipped[folder.name] == tuple(file.read_text("utf-8") for file in files)
    for each in listed:
        assert compile_schema(json.loads(each["schema"])).fields
