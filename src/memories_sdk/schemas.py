"""Definitions of tools in the words of each provider, all made from one. Pure.

A definition is a name, a description and the JSON schema of the arguments: a closed object without
choices at the top, each of whose properties has one type. That much every provider takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Form = Literal[
    "plain",
    "openai",
    "openai-strict",
    "responses",
    "responses-strict",
    "anthropic",
    "gemini",
    "mcp",
]


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool as models know it.

    Attributes:
        name: Letters, digits and underscores.
        description: What it is for.
        parameters: The JSON schema of its arguments.
        reads: Whether it changes nothing.
        destroys: Whether it can take away or overwrite what is there.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    reads: bool = False
    destroys: bool = True

    def written(self, form: Form = "plain") -> dict[str, object]:
        """Return the definition as a provider takes it, ready for JSON.

        Args:
            form: `"plain"` is name, description and parameters. `"openai"` is a function tool of
                chat completions, `"responses"` one of the Responses API; with `-strict` the model
                is held to the schema, and what may be left out is null. `"anthropic"`, `"gemini"`
                (a function declaration) and `"mcp"` are what they say.

        Raises:
            KeyError: There is no such form.
        """
        return _FORMS[form](self)


def strict(parameters: Mapping[str, object]) -> dict[str, object]:
    """Return a schema in which everything is required, and null stands for what is left out."""
    properties, required = _parts(parameters)
    return {
        **parameters,
        "properties": {
            name: value if name in required else _nullable(value)
            for name, value in properties.items()
        },
        "required": list(properties),
        "additionalProperties": False,
    }


def _parts(
    parameters: Mapping[str, object],
) -> tuple[Mapping[str, Mapping[str, object]], set[str]]:
    properties, required = parameters["properties"], parameters["required"]
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        msg = "no schema of an object"
        raise TypeError(msg)
    return properties, set(required)


def _nullable(value: Mapping[str, object]) -> dict[str, object]:
    made = {**value, "type": [value["type"], "null"]}
    if isinstance(choices := value.get("enum"), list):
        made["enum"] = [*choices, None]
    return made


def _plain(it: Definition) -> dict[str, object]:
    parts = {"name": it.name, "description": it.description}
    return {**parts, "parameters": dict(it.parameters)}


def _openai(it: Definition, *, held: bool = False) -> dict[str, object]:
    function = _plain(it)
    if held:
        function |= {"parameters": strict(it.parameters), "strict": True}
    return {"type": "function", "function": function}


def _responses(it: Definition, *, held: bool = False) -> dict[str, object]:
    parameters = strict(it.parameters) if held else dict(it.parameters)
    # Left out, `strict` would be true there.
    return {"type": "function", **_plain(it), "parameters": parameters, "strict": held}


def _anthropic(it: Definition) -> dict[str, object]:
    parts = {"name": it.name, "description": it.description}
    return {**parts, "input_schema": dict(it.parameters)}


def _gemini(it: Definition) -> dict[str, object]:
    declaration: dict[str, object] = {"name": it.name, "description": it.description}
    properties, required = _parts(it.parameters)
    if properties:  # an object without properties is refused there
        declaration["parameters"] = {
            "type": "OBJECT",
            "properties": {name: _openapi(value) for name, value in properties.items()},
            "required": [name for name in properties if name in required],
        }
    return declaration


def _openapi(value: Mapping[str, object]) -> dict[str, object]:
    made = {**value, "type": str(value["type"]).upper()}
    if isinstance(items := value.get("items"), Mapping):
        made["items"] = _openapi(items)
    return made


def _mcp(it: Definition) -> dict[str, object]:
    return {
        "name": it.name,
        "description": it.description,
        "inputSchema": dict(it.parameters),
        "annotations": {
            "readOnlyHint": it.reads,
            "destructiveHint": it.destroys and not it.reads,
            "openWorldHint": False,
        },
    }


_FORMS: Final[Mapping[str, Callable[[Definition], dict[str, object]]]] = {
    "plain": _plain,
    "openai": _openai,
    "openai-strict": lambda it: _openai(it, held=True),
    "responses": _responses,
    "responses-strict": lambda it: _responses(it, held=True),
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}
FORMS: Final = tuple(_FORMS)
