"""The command line: `memories`, or `python -m memories_sdk`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

from memories_sdk.errors import MissingExtra


def main() -> None:
    """Run the command that the process was called with, and end the process."""
    warnings.showwarning = _tell
    try:
        _app()(prog_name="memories")
    except KeyboardInterrupt:  # before or after the command itself
        print("memories: interrupted", file=sys.stderr)
        sys.exit(130)


def _app() -> Callable[..., object]:
    """Return all commands, or end the process with what to install."""
    try:
        from memories_sdk.cli.app import app  # noqa: PLC0415 - Typer comes with an extra
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("memories_sdk"):
            raise
        sys.exit(f"memories: {MissingExtra('The command line', 'cli')}")
    return app


def _tell(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as a sentence: whoever runs a command has no use for a line of our code."""
    print(f"memories: warning: {message}", file=sys.stderr)
