"""The commands together: what `memories --help` shows."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Final

import typer

from memories_sdk.cli import exchange, keeping, opening, reading, serving, writing
from memories_sdk.cli.program import Program
from memories_sdk.cli.refusals import EXIT_CODES

ABOUT: Final = "Memories that agents and people keep together, from the command line."

app = typer.Typer(
    name="memories",
    cls=Program,
    help=f"{ABOUT}\n\n\b\nExit codes:\n"
    + "\n".join(f"  {code:<3} {text}" for code, text in EXIT_CODES.items()),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - the signature that Typer calls
    if wanted:
        try:
            number = version("memories-sdk")
        except PackageNotFoundError:
            number = "from a source tree"
        print(f"memories-sdk {number}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print it."),
    ] = False,
) -> None:
    """Hold the options of the program itself."""


for part in (reading, writing, exchange, keeping, serving, opening):
    app.add_typer(part.app)
app.add_typer(keeping.principals, name="principals")
app.add_typer(keeping.agents, name="agents")
app.add_typer(serving.tokens, name="token")
