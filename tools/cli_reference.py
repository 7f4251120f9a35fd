"""Write docs/cli.md from the commands themselves; with --check, only tell whether it is current."""

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import get_args, get_type_hints, is_typeddict

from typer.main import get_command

from memories_sdk.cli.app import ABOUT, app
from memories_sdk.cli.refusals import EXIT_CODES
from memories_sdk.cli.shapes import ErrorShape
from memories_sdk.cli.shell import COMMANDS, Command

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"

HEAD = f"""# The command line

{ABOUT} Install it with
`pip install "memories-sdk[cli]"`; `memories` and `python -m memories_sdk` are the same. This page
is written by `tools/cli_reference.py` from the commands themselves.

**Whose shelf.** A command acts as the user of `--as`, else `$MEMORIES_USER`, else your login name.
Without more it works on that user's own shelf; `--principal` names a group, `--agent` the shelf of
an agent. The store is that of `--store`, else `$MEMORIES_URL`, else the one in your data folder.

**Answers** go to the output, refusals and progress bars to the error output. `--json` prints one
JSON value of the shape that the command's section names; a refusal is then an object `error` of
the shape `ErrorShape`. To a terminal, characters that could steer it are shown as marks; into a
file or a pipe a body goes to the byte.
"""


def main() -> None:
    """Write the page, or end with 1 when it is not what the commands say."""
    page = "\n".join(lines()) + "\n"
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page:
        sys.exit(f"{PAGE.name} is not current: run python tools/cli_reference.py")


def lines() -> Iterator[str]:
    """Yield the lines of the page."""
    yield HEAD
    yield from ("## Exit codes", "", "| code | meaning |", "|---|---|")
    yield from (f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    for command in COMMANDS.values():
        yield from section(command)
    yield from ("", "## Shapes", "")
    yield "Every key is always there."
    for shape in all_shapes():
        yield from shape_lines(shape)


def section(command: Command) -> Iterator[str]:
    """Yield the section of one command."""
    found = get_command(app)
    for part in command.name.split():
        found = found.commands[part]  # type: ignore[attr-defined]  # Typer's own click has it
    about = (found.help or "").split("\b")[0].strip()
    yield from ("", f"## `memories {command.name}`", "", cleandoc(about), "")
    yield from ("```console", *(f"$ memories {each}" for each in command.examples), "```", "")
    yield from ("| | |", "|---|---|")
    for parameter in found.params:
        help_ = getattr(parameter, "help", None) or ""
        if parameter.name != "help":
            yield f"| {called(parameter)} | {cell(help_)}{default(parameter)} |"
    yield from ("", f"`--json`: {shape_name(command.shape)}.")


def called(parameter: object) -> str:
    """Return how a parameter is written."""
    options = [*getattr(parameter, "opts", ()), *getattr(parameter, "secondary_opts", ())]
    if getattr(parameter, "param_type_name", "") == "argument":
        name = getattr(parameter, "metavar", None) or str(options[0]).upper()
        return f"`{name.strip('[]{}')}`"
    return ", ".join(f"`{each}`" for each in options)


def default(parameter: object) -> str:
    """Return what stands for a parameter that is left out."""
    value = getattr(parameter, "default", None)
    required = getattr(parameter, "required", False)
    if required:
        return " Required."
    return f" Default: {value}." if type(value) in {int, str, float} else ""


def cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def all_shapes() -> list[type]:
    """Return every shape that a command or a refusal has, by name."""
    found: dict[str, type] = {}
    waiting: list[object] = [ErrorShape, *(each.shape for each in COMMANDS.values())]
    while waiting:
        shape = waiting.pop()
        if is_typeddict(shape) and isinstance(shape, type):
            if shape.__name__ not in found:
                found[shape.__name__] = shape
                waiting.extend(get_type_hints(shape).values())
        else:
            waiting.extend(get_args(shape))
    return [found[name] for name in sorted(found)]


def shape_lines(shape: type) -> Iterator[str]:
    """Yield what describes one shape."""
    yield from ("", f"### {shape.__name__}", "", cleandoc(shape.__doc__ or ""), "")
    yield from ("| key | value |", "|---|---|")
    hints = get_type_hints(shape)
    yield from (f"| `{name}` | {shape_name(hint)} |" for name, hint in hints.items())


def shape_name(hint: object) -> str:
    """Return a type in the words of JSON."""
    words = {str: "text", int: "integer", float: "number", bool: "true or false"}
    if is_typeddict(hint):
        name = getattr(hint, "__name__", "")
        return f"[{name}](#{name.lower()})"
    if isinstance(hint, type) and hint in words:
        return words[hint]
    arguments = get_args(hint)
    origin = getattr(hint, "__origin__", None)
    if origin is list:
        return f"list of {shape_name(arguments[0])}"
    if origin is dict:
        return f"object of {shape_name(arguments[1])}"
    if arguments:
        return " or ".join(map(shape_name, arguments))
    return "null" if hint is type(None) else "any value"


if __name__ == "__main__":
    main()
