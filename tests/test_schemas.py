"""Definitions of tools: one for each provider, checked by the provider's own types and rules."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Mapping

import anthropic.types
import jsonschema
import mcp_types
import openai.types.chat
import openai.types.responses
import pytest
from agents.strict_schema import ensure_strict_json_schema
from google.genai import types as gemini
from pydantic import TypeAdapter

from memories_sdk import InvalidInput, MemoryStore, MemoryTools, Principal
from memories_sdk.document_tools import ALL_OPERATIONS
from memories_sdk.schemas import FORMS, Form
from memories_sdk.tools import FACT_TOOLS, OPERATIONS, TOOLS

EVERY_TOOL = (*TOOLS, *FACT_TOOLS)
NARROWED = [
    tuple(OPERATIONS),
    tuple(ALL_OPERATIONS),
    *((it,) for it in ALL_OPERATIONS),
    ("list", "get"),
    ("get", "delete"),
]

each_choice = pytest.mark.parametrize("operations", NARROWED, ids="+".join)
each_form = pytest.mark.parametrize("form", FORMS)


@pytest.fixture
def engine() -> str:
    """No definition depends on the engine."""
    return "sqlite-memory"


def made(
    store: MemoryStore, alice: Principal, form: Form, operations: Iterable[str] = OPERATIONS
) -> list[dict[str, object]]:
    """Return all definitions in a form, for an agent with these operations."""
    narrowed = dict.fromkeys(TOOLS, tuple(operations))
    tools = MemoryTools(store, acting_as=alice, operations=narrowed)
    definitions = tools.schemas(EVERY_TOOL, form=form)
    assert json.loads(json.dumps(definitions)) == definitions
    return definitions


def parameters(definition: Mapping[str, object]) -> dict[str, object]:
    """Return the schema of the arguments, wherever the form keeps it."""
    definition = definition.get("function", definition)
    for name in ("parameters", "input_schema", "inputSchema"):
        if name in definition:
            return definition[name]
    return {"type": "object", "properties": {}, "required": []}


@each_form
@each_choice
def test_a_schema_keeps_the_rules_that_all_share(
    store: MemoryStore, alice: Principal, form: Form, operations: tuple[str, ...]
) -> None:
    """A plain name, a description, an object without choices at the top, no empty enum."""
    for definition in made(store, alice, form, operations):
        inner = definition.get("function", definition)
        assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}", inner["name"])
        assert 10 < len(inner["description"]) < 1_024
        schema = parameters(definition)
        assert schema["type"] in {"object", "OBJECT"}
        assert not {"anyOf", "oneOf", "allOf", "not", "enum", "$ref"} & schema.keys()
        for name, value in schema["properties"].items():
            assert re.fullmatch(r"[a-z_]{1,64}", name)
            assert value["description"]
            assert value.get("enum", ["one"]) != []
        assert set(schema["required"]) <= schema["properties"].keys()


@pytest.mark.parametrize("form", [it for it in FORMS if it != "gemini"])
@each_choice
def test_a_schema_is_json_schema(
    store: MemoryStore, alice: Principal, form: Form, operations: tuple[str, ...]
) -> None:
    """It is valid by the draft that providers name, and closed."""
    for definition in made(store, alice, form, operations):
        schema = parameters(definition)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False


@each_choice
def test_openai_takes_them(
    store: MemoryStore, alice: Principal, operations: tuple[str, ...]
) -> None:
    """By the types of its SDK, for chat completions and for responses."""
    chat = TypeAdapter(openai.types.chat.ChatCompletionFunctionToolParam)
    response = TypeAdapter(openai.types.responses.FunctionToolParam)
    for adapter, form in ((chat, "openai"), (response, "responses")):
        for each in (form, f"{form}-strict"):
            for definition in made(store, alice, each, operations):
                assert adapter.validate_python(definition, strict=True) == definition


@pytest.mark.parametrize("form", ["openai-strict", "responses-strict"])
@each_choice
def test_strict_is_what_openai_calls_strict(
    store: MemoryStore, alice: Principal, form: Form, operations: tuple[str, ...]
) -> None:
    """All required, what may be left out nullable, closed: its own converter changes nothing."""
    plain = made(store, alice, "plain", operations)
    for definition, before in zip(made(store, alice, form, operations), plain, strict=True):
        schema = parameters(definition)
        assert definition.get("function", definition)["strict"] is True
        assert schema["required"] == list(schema["properties"])
        assert ensure_strict_json_schema(copy.deepcopy(schema)) == schema
        needed = before["parameters"]["required"]
        for name, value in schema["properties"].items():
            nullable = isinstance(value["type"], list) and "null" in value["type"]
            assert nullable == (name not in needed)
            assert ("enum" in value and None in value["enum"]) == (nullable and "enum" in value)


def test_what_strict_makes_a_model_send_is_taken(store: MemoryStore, alice: Principal) -> None:
    """Null is nothing said: the call does what the same call without nulls does."""
    (definition,) = MemoryTools(store, acting_as=alice).schemas(
        ["global_memory"], form="responses-strict"
    )
    validator = jsonschema.Draft202012Validator(definition["parameters"])
    nothing = dict.fromkeys(definition["parameters"]["properties"])
    tools = MemoryTools(store, acting_as=alice)
    for said in (
        {"action": "list"},
        {"action": "save", "name": "n", "type": "plan", "content": "x"},
        {"action": "replace", "name": "n", "type": "plan", "find": "x", "new_text": "y"},
        {"action": "get", "name": "n", "type": "plan"},
    ):
        call = nothing | said
        validator.validate(call)
        assert tools.call("global_memory", call).ok


@each_choice
def test_anthropic_takes_them(
    store: MemoryStore, alice: Principal, operations: tuple[str, ...]
) -> None:
    """By the type of its SDK."""
    adapter = TypeAdapter(anthropic.types.ToolParam)
    for definition in made(store, alice, "anthropic", operations):
        assert adapter.validate_python(definition, strict=True)["name"] == definition["name"]
        assert definition.keys() == {"name", "description", "input_schema"}


@each_choice
def test_gemini_takes_them(
    store: MemoryStore, alice: Principal, operations: tuple[str, ...]
) -> None:
    """By the types of its SDK, which refuse what its interface does not know."""
    declarations = made(store, alice, "gemini", operations)
    tool = gemini.Tool(function_declarations=declarations)
    for declaration, sent in zip(tool.function_declarations, declarations, strict=True):
        assert declaration.model_dump(exclude_none=True, mode="json") == sent
    without = next(it for it in declarations if it["name"] == "clear_memory")
    assert "parameters" not in without


@each_choice
def test_mcp_takes_them(store: MemoryStore, alice: Principal, operations: tuple[str, ...]) -> None:
    """By the type of its SDK; the hints tell a client what to ask its user about."""
    hints = {}
    for definition in made(store, alice, "mcp", operations):
        tool = mcp_types.Tool.model_validate(definition)
        assert tool.input_schema == definition["inputSchema"]
        hints[tool.name] = (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
    reads = set(operations) <= {"list", "get", "search"}
    assert hints["memory"] == (reads, not reads)
    assert hints["list_memory"] == (True, False)
    assert hints["clear_memory"] == (False, True)


def test_a_list_only_agent_keeps_its_filter(store: MemoryStore, alice: Principal) -> None:
    """Narrowed to list, `type` stays and nothing else that list does not know."""
    for form in FORMS:
        definition = made(store, alice, form, ["list"])[0]
        properties = parameters(definition)["properties"]
        assert list(properties) == ["action", "type"]
        assert properties["action"]["enum"][:1] == ["list"]
        assert parameters(definition)["required"] in ([], ["action", "type"])


def test_a_tool_without_operations_is_not_defined(store: MemoryStore, alice: Principal) -> None:
    """A model is not shown what it can never call."""
    tools = MemoryTools(store, acting_as=alice, operations={"memory": [], "list_memory": []})
    names = [it.name for it in tools.definitions(EVERY_TOOL)]
    assert "memory" not in names
    assert "list_memory" not in names
    assert len(names) == len(EVERY_TOOL) - 2


def test_an_unknown_form_is_told_what_there_is(store: MemoryStore, alice: Principal) -> None:
    """The refusal names the forms."""
    with pytest.raises(InvalidInput, match="openai-strict"):
        MemoryTools(store, acting_as=alice).schemas(form="cohere")
