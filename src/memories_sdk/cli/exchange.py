"""Commands that bring memories in and take them out: import, export."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from memories_sdk.cli.shell import PARTLY, Answer, Shell, TypeOption, command, lines
from memories_sdk.errors import InvalidInput
from memories_sdk.importers import jsonl, markdown_folder
from memories_sdk.importers.bringing import Entry, Report
from memories_sdk.past import POLICIES, checked_policy

app = typer.Typer()


class EntryShape(TypedDict):
    """What became of one record."""

    place: str
    fate: str
    type: str | None
    name: str | None
    detail: str


class ImportShape(TypedDict):
    """What an import did: how many records had each fate, and the first thousand of them."""

    dry_run: bool
    total: int
    counts: dict[str, int]
    entries: list[EntryShape]


class ExportShape(TypedDict):
    """Where the export is, and how many memories it holds."""

    path: str
    memories: int


ConflictOption = Annotated[
    str,
    typer.Option(
        metavar="POLICY",
        help="Where another memory has the name: " + ", ".join(POLICIES) + ".",
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Tell, and write nothing.")]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="A new file for what became of each record.")
]


@command(
    app,
    "import",
    shape=ImportShape,
    examples=[
        "import memory-bank --dry-run",
        "import memory-bank --conflict rename",
        "import backup.jsonl --report report.jsonl",
        "import AGENTS.md --type context",
    ],
)
def import_(
    shell: Shell,
    *,
    path: Annotated[
        Path, typer.Argument(help="A folder of markdown files, a single one, or a .jsonl file.")
    ],
    type: TypeOption = None,
    conflict: ConflictOption = "skip",
    dry_run: DryRunOption = False,
    report: ReportOption = None,
) -> Answer:
    """Bring memories from markdown files, or from an export in JSON lines.

    A type that a markdown file does not say is guessed; --dry-run shows the guesses. A record that
    is here already is left alone, so an import that was interrupted is resumed by the same call.
    """
    policy = checked_policy(conflict)
    with shell.progress("Importing") as progress, _listening(report) as listener:
        if _is_jsonl(path):
            done = jsonl.bring_in(
                shell.shelf,
                path,
                conflict=policy,
                dry_run=dry_run,
                progress=progress,
                listener=listener,
            )
        else:
            done = markdown_folder.bring_in(
                shell.shelf,
                path,
                type=type,
                conflict=policy,
                dry_run=dry_run,
                progress=progress,
                listener=listener,
            )
    return answer_of(done)


@command(
    app,
    "export",
    shape=ExportShape,
    examples=[
        "export backup",
        "export backup.jsonl",
        "export notes --type documentation --overwrite",
    ],
)
def export(
    shell: Shell,
    *,
    path: Annotated[Path, typer.Argument(help="A folder, which is made, or a .jsonl file.")],
    type: TypeOption = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file, or files of the same name.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history/--no-history", help="In JSON lines: earlier versions too.")
    ] = True,
) -> Answer:
    """Write a shelf into a folder, as <type>/<name>.md, or into a file of JSON lines.

    The folder holds the memories as they are; the file also their history, those that were
    deleted, and the pictures.
    """
    with shell.progress("Exporting") as progress:
        if _is_jsonl(path):
            count = jsonl.export(
                shell.shelf,
                path,
                type=type,
                history=history,
                overwrite=overwrite,
                progress=progress,
            )
        else:
            written = markdown_folder.export(
                shell.shelf, path, type=type, overwrite=overwrite, progress=progress
            )
            count = len(written)
    return Answer({"path": str(path), "memories": count}, f"{count:,} memories in {path}")


def _is_jsonl(path: Path) -> bool:
    if path.suffix == ".jsonl":
        return True
    if path.suffix in (".zip", ".tar", ".gz", ".tgz", ".7z", ".xz", ".bz2"):
        raise InvalidInput(
            f"{path} is an archive.",
            field="path",
            suggestion="Archives are not opened: unpack it first.",
        )
    return False


def answer_of(report: Report) -> Answer:
    """Return what an import did; its text names what needs a look, or all of a dry run."""
    data = {
        "dry_run": report.dry_run,
        "total": report.total,
        "counts": dict(report.counts),
        "entries": [asdict(each) for each in report.entries],
    }
    telling = ("refused", "skipped", "renamed", "updated")
    shown = (str(it) for it in report.entries if report.dry_run or it.fate in telling)
    text = lines([*shown, str(report)], otherwise="")
    return Answer(data, text, 0 if report.complete else PARTLY)


@contextmanager
def _listening(path: Path | None) -> Iterator[Callable[[Entry], None] | None]:
    if path is None:
        yield None
        return
    with path.open("x", encoding="utf-8") as file:
        yield lambda entry: print(json.dumps(asdict(entry), ensure_ascii=False), file=file)
