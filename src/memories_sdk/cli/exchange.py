"""Commands that bring memories in and take them out: import, export."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypedDict

import typer

from memories_sdk.cli.refusals import PARTLY, near
from memories_sdk.cli.shell import Answer, Shell, TypeOption, command, lines
from memories_sdk.errors import InvalidInput, NotFound
from memories_sdk.importers import jsonl, markdown_folder, mirror, openwp, spora
from memories_sdk.importers.bringing import Entry, Report
from memories_sdk.past import POLICIES, checked_policy

app = typer.Typer()

MOST_SHOWN: Final = 40
"""Guesses that a person is shown before they are asked."""


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


class OwnerShape(ImportShape):
    """What came over of one owner: `user:name` or `group:name`, with the agent behind it."""

    owner: str


class SporaShape(TypedDict):
    """What came over: the schema that was found, its rows, and what became of each owner's."""

    version: int
    found: int
    owners: list[OwnerShape]


class StepShape(TypedDict):
    """What was done about one file."""

    what: str
    path: str | None
    detail: str


class SyncShape(TypedDict):
    """What a run did, and how many clashes it left."""

    dry_run: bool
    steps: list[StepShape]
    conflicts: int


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
        "import site.sql --prefix wp_",
        "import AGENTS.md --type context",
    ],
)
def import_(
    shell: Shell,
    *,
    path: Annotated[
        str,
        typer.Argument(
            help="A folder of markdown files, one of them, a .jsonl file, or a database or .sql"
            " dump of OpenWP."
        ),
    ],
    type: TypeOption = None,
    prefix: Annotated[
        str | None, typer.Option(help="Of the site's tables, for OpenWP, such as wp_.")
    ] = None,
    conflict: ConflictOption = "skip",
    dry_run: DryRunOption = False,
    report: ReportOption = None,
) -> Answer:
    """Bring memories from markdown files, from an export in JSON lines, or from OpenWP.

    A type that a markdown file does not say is guessed: the guesses are shown on a terminal before
    anything is written, and anywhere by --dry-run. A record that is here already is left alone, so
    an import that was interrupted is resumed by the same call.
    """
    policy = checked_policy(conflict)
    _check_there(path)
    if type is None and not dry_run:
        _show_guesses(shell, path)
    with shell.progress("Importing") as progress, _listening(report) as listener:
        bring_in = _reader(path, type, prefix)
        done = bring_in(
            shell.shelf,
            path,
            conflict=policy,
            dry_run=dry_run,
            progress=progress,
            listener=listener,
        )
    return answer_of(done)


@command(
    app,
    "import-spora",
    shape=SporaShape,
    shelf=False,
    examples=["import-spora spora.db --dry-run", "import-spora mysql://user:password@host/spora"],
)
def import_spora(
    shell: Shell,
    *,
    place: Annotated[str, typer.Argument(help="An SQLite file, or a URL mysql://….")],
    type: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TYPE", help="For schema 1: the type of a memory; repeatable."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse rows of agents, as Spora's migration does.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an import that was interrupted.")
    ] = False,
    dry_run: DryRunOption = False,
    report: ReportOption = None,
) -> Answer:
    """Bring all memories of a Spora database, each to its owner.

    Users, groups and agents are made where they are missing. A second run is refused.
    """
    types = dict(_pair(each) for each in type or [])
    _check_there(place)
    with shell.progress("Importing") as progress, _listening(report) as listener:
        done = spora.bring_in(
            shell.store,
            place,
            types=types,
            strict=strict,
            resume=resume,
            dry_run=dry_run,
            progress=progress,
            listener=listener,
        )
    reports = [{"owner": owner, **_told(it)} for owner, it in done.reports.items()]
    data = {"version": done.version, "found": done.found, "owners": reports}
    return Answer(data, str(done), 0 if done.complete else PARTLY)


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
    memories = "memory" if count == 1 else "memories"
    return Answer({"path": str(path), "memories": count}, f"{count:,} {memories} in {path}")


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


@command(
    app,
    "sync",
    shape=SyncShape,
    examples=["sync notes --dry-run", "sync notes", "sync notes --prefer folder"],
)
def sync(
    shell: Shell,
    *,
    path: Annotated[Path, typer.Argument(help="A folder; it is made.")],
    prefer: Annotated[
        str | None, typer.Option(metavar="SIDE", help="Who wins a clash: folder or shelf.")
    ] = None,
    allow_deletions: Annotated[
        bool, typer.Option("--allow-deletions", help="Also more than 5 and a quarter at once.")
    ] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Keep a folder and a shelf in step, both ways.

    What both sides changed is brought together line by line; where they clash, both stay as they
    are, the answer says so and the exit code is 7. Only what an earlier run has seen on both sides
    is deleted.
    """
    outcome = mirror.sync(
        shell.shelf,
        path,
        prefer=mirror.checked_side(prefer),
        allow_deletions=allow_deletions,
        dry_run=dry_run,
    )
    steps = [{"what": it.what, "path": it.path, "detail": it.detail} for it in outcome.steps]
    data = {"dry_run": outcome.dry_run, "steps": steps, "conflicts": len(outcome.conflicts)}
    return Answer(data, str(outcome), PARTLY if outcome.conflicts else 0)


def answer_of(report: Report) -> Answer:
    """Return what an import did; its text names what needs a look, or all of a dry run."""
    telling = ("refused", "skipped", "renamed", "updated")
    shown = (str(it) for it in report.entries if report.dry_run or it.fate in telling)
    text = lines([*shown, str(report)], otherwise="")
    return Answer(_told(report), text, 0 if report.complete else PARTLY)


def _told(report: Report) -> dict[str, object]:
    return {
        "dry_run": report.dry_run,
        "total": report.total,
        "counts": dict(report.counts),
        "entries": [asdict(each) for each in report.entries],
    }


def _pair(text: str) -> tuple[str, str]:
    name, sign, type = text.rpartition("=")
    if not sign:
        raise InvalidInput(f"{text!r} is no NAME=TYPE.", field="type", suggestion="release=plan")
    return name, type


def _check_there(path: str) -> None:
    """Refuse a file or folder that is not there, and name what may be meant.

    Raises:
        NotFound: It is not there.
    """
    place = Path(path)
    if "://" in path or place.exists():
        return
    beside = place.parent
    names = [each.name for each in beside.iterdir()] if beside.is_dir() else []
    raise NotFound(f"There is no file or folder {path}.", suggestion=near(place.name, names))


def _show_guesses(shell: Shell, path: str) -> None:
    """Show a person which types were guessed, before anything is written."""
    if _is_database(path) or _is_jsonl(Path(path)):
        return
    look = markdown_folder.look(path, shell.shelf.vocabularies)
    guessed = [str(each) for each in look.documents if each.reason]
    if guessed:
        shown = guessed[:MOST_SHOWN]
        if len(guessed) > len(shown):
            shown.append(f"… and {len(guessed) - len(shown)} more: --dry-run lists all.")
        shell.agreed("\n".join(shown), "Bring them in with these types?")


def _is_database(path: str) -> bool:
    return path.startswith(("mysql://", "mariadb://")) or path.endswith((".sql", ".db", ".sqlite"))


def _reader(path: str, type: str | None, prefix: str | None) -> Callable[..., Report]:
    """Return what reads a place: a server, a dump, a database, JSON lines, or markdown."""
    if _is_database(path):
        return partial(openwp.bring_in, prefix=prefix)
    if _is_jsonl(Path(path)):
        return jsonl.bring_in
    return partial(markdown_folder.bring_in, type=type)


@contextmanager
def _listening(path: Path | None) -> Iterator[Callable[[Entry], None] | None]:
    if path is None:
        yield None
        return
    with path.open("x", encoding="utf-8") as file:
        yield lambda entry: print(json.dumps(asdict(entry), ensure_ascii=False), file=file)
