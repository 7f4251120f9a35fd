"""The description of the routes: complete, with examples, true, and the page made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from starlette.testclient import TestClient

from memories_sdk import MemoryStore, Principal
from memories_sdk.memory import MemoryHead
from memories_sdk.server import create_app
from memories_sdk.server import description as say
from memories_sdk.server.reference import page
from memories_sdk.wire import Json

ROOT = Path(__file__).parent.parent
METHODS = {"get", "put", "post", "patch", "delete"}


@pytest.fixture
def described(store: MemoryStore, alice: Principal) -> Json:
    """What the server says of itself."""
    app = create_app(store, authenticate=lambda _: alice)
    with TestClient(app) as http:
        return http.get("/openapi.json").json()


def operations(described: Json) -> list[tuple[str, Json]]:
    """Return each operation with its name."""
    return [
        (f"{method.upper()} {path}", operation)
        for path, item in described["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    ]


def test_every_route_and_refusal_has_an_example(described: Json) -> None:
    """Whoever reads the description can copy a request, and knows each answer."""
    ours = [each for each in operations(described) if "/health/" not in each[0]]
    assert len(ours) == 2 * 34 + 3 + 4 + 4
    for name, operation in ours:
        assert operation["summary"], name
        assert operation["description"], name
        for parameter in operation["parameters"]:
            assert "example" in parameter, name
            assert parameter["description"], name
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        assert body is None or body["example"], name
        for status, answer in operation["responses"].items():
            for kind, content in answer.get("content", {}).items():
                shown = "example" in content or content.get("examples")
                assert shown or kind.startswith("image/"), f"{name} {status}"


def shown(operation: Json) -> list[tuple[str, Json, object]]:
    """Return each example of an operation with what it shows and its schema."""
    found = [
        (parameter["name"], parameter["schema"], parameter["example"])
        for parameter in operation.get("parameters", ())
    ]
    contents = dict(operation.get("requestBody", {}).get("content", {}))
    for answer in operation["responses"].values():
        found += [
            (name, header["schema"], header["example"])
            for name, header in answer.get("headers", {}).items()
        ]
        for kind, media in answer.get("content", {}).items():
            contents[f"{kind} {answer['description']}"] = media
    for what, media in contents.items():
        examples = [each["value"] for each in media.get("examples", {}).values()]
        examples += [media["example"]] if "example" in media else []
        found += [(what, media["schema"], each) for each in examples]
    return found


def test_each_example_is_what_its_schema_says(described: Json) -> None:
    """Who copies one is not refused for it, and what is sent back looks as it is shown."""
    count = 0
    for name, operation in operations(described):
        for what, schema, example in shown(operation):
            whole = schema | {"components": described["components"]}
            checker = Draft202012Validator(whole, format_checker=FormatChecker())
            wrong = [error.message for error in checker.iter_errors(example)]
            assert not wrong, (name, what, wrong)
            count += 1
    assert count > 1_000


def test_either_answer_of_a_route_is_described(
    described: Json, store: MemoryStore, alice: Principal
) -> None:
    """One fact that is forgotten and all that are cleared are told in different shapes."""
    path = "/openwp/v1/memory"
    answer = described["paths"][path]["delete"]["responses"]["200"]
    schema = answer["content"]["application/json"]["schema"] | {
        "components": described["components"]
    }
    with TestClient(create_app(store, authenticate=lambda _: alice)) as http:
        for params in ({"type": "preference", "key": "tone"}, {}):
            sent = http.delete(path, params=params)
            assert sent.status_code == 200
            Draft202012Validator(schema).validate(sent.json())


def test_operations_have_names_of_their_own(described: Json) -> None:
    """A program that is generated from it has one function for each."""
    names = [operation["operationId"] for _, operation in operations(described)]
    assert len(set(names)) == len(names)


def test_the_example_of_a_memory_has_all_of_its_keys() -> None:
    """A new field of a memory fails here until it is described."""
    assert say.MEMORY.keys() == MemoryHead.__dataclass_fields__.keys() | {"content"}


def test_the_reference_page_is_made_of_it(described: Json) -> None:
    """`python -m memories_sdk.server.reference docs/rest.md` writes it anew."""
    committed = (ROOT / "docs" / "rest.md").read_text(encoding="utf-8")
    assert committed == page(described)
