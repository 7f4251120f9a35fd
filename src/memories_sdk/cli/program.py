"""The program as a whole: what it does before and after any of its commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from typer.core import TyperGroup
from typer.exceptions import TyperException

from memories_sdk.cli.refusals import misused


class Program(TyperGroup):
    """The group of all commands, which tells a wrong call in JSON to whoever asked for JSON."""

    def main(  # noqa: D102 - Typer's own
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - Typer's own signature
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002 - the same
        **extra: Any,  # noqa: ANN401 - the same
    ) -> Any:  # noqa: ANN401 - the same
        given = list(sys.argv[1:] if args is None else args)
        for stream in (sys.stdout, sys.stderr):
            # A terminal without UTF-8 shows what it cannot write as an escape.
            if stream.isatty() and hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        if not standalone_mode or "--json" not in given:
            return super().main(
                args, prog_name, complete_var, standalone_mode, windows_expand_args, **extra
            )
        try:
            code = super().main(
                given,
                prog_name,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
        except TyperException as error:
            context = getattr(error, "ctx", None)
            misused(error.format_message(), getattr(context, "command_path", "memories"))
            code = error.exit_code
        sys.exit(code)
