"""Commands that read: list, get, history, search, recall."""

from __future__ import annotations

from typing import Annotated, TypedDict

import typer

from memories_sdk.cli import shapes
from memories_sdk.cli.refusals import one_line
from memories_sdk.cli.shell import (
    Answer,
    CursorOption,
    LimitOption,
    Shell,
    TypeOption,
    command,
    lines,
)

app = typer.Typer()

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="A name, or an id.")]


class ListShape(TypedDict):
    """One page of a list."""

    memories: list[shapes.HeadShape]
    total: int
    next_cursor: str | None


class HistoryShape(TypedDict):
    """One page of revisions, newest first."""

    revisions: list[shapes.RevisionShape]
    next_cursor: str | None


class PassageShape(TypedDict):
    """A passage that matches, and where it stands."""

    field: str
    text: str


class HitShape(TypedDict):
    """A memory that matches a search."""

    memory: shapes.HeadShape
    score: float
    passages: list[PassageShape]


class HitsShape(TypedDict):
    """One page of hits, the best first."""

    hits: list[HitShape]
    total: int
    next_cursor: str | None


class RecalledShape(TypedDict):
    """A memory that enters a prompt."""

    memory: shapes.HeadShape
    text: str
    score: float
    shortened: bool


class VerdictShape(TypedDict):
    """What became of a memory that was considered, and why."""

    id: str
    outcome: str
    reason: str


class RecallShape(TypedDict):
    """What enters a prompt; `context` is the block itself."""

    context: str
    items: list[RecalledShape]
    report: list[VerdictShape]


@command(
    app,
    "list",
    shape=ListShape,
    examples=["list", "list --type plan", "list --agent writer --json"],
)
def list_(
    shell: Shell,
    *,
    type: TypeOption = None,
    limit: LimitOption = 50,
    cursor: CursorOption = None,
) -> Answer:
    """List a shelf: names, types and summaries, in its order."""
    page = shell.shelf.list(type=type, limit=limit, cursor=cursor)
    data = {
        "memories": [shapes.head(each) for each in page],
        "total": page.total,
        "next_cursor": page.next_cursor,
    }
    text = lines(map(str, page), otherwise="No memories here yet.")
    return Answer(data, text + _more(page.next_cursor))


@command(
    app,
    "get",
    shape=shapes.MemoryShape,
    examples=["get voice", "get voice --type context > voice.md"],
)
def get(shell: Shell, *, name: NameArgument, type: TypeOption = None) -> Answer:
    """Print the body of a memory, to the byte.

    The type may be left out when only one memory has the name.
    """
    memory = shell.find(name, type)
    return Answer(shapes.memory(memory), memory.content, end="")


@command(
    app,
    "history",
    shape=HistoryShape,
    examples=["history voice", "history --limit 10", "history voice --json"],
)
def history(
    shell: Shell,
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A name; the whole shelf without.")
    ] = None,
    type: TypeOption = None,
    limit: LimitOption = 50,
    cursor: CursorOption = None,
) -> Answer:
    """Show who changed a memory, or anything on the shelf, newest first.

    A memory that was deleted has its history too, when its type is named.
    """
    id = None
    if name is not None and type is None:
        id, name = shell.find(name, None).id, None
    found = shell.shelf.history(name, type, id=id, limit=limit, cursor=cursor)
    data = {
        "revisions": [shapes.revision(each) for each in found],
        "next_cursor": found.next_cursor,
    }
    shown = (
        f"{each.seq}  {shapes.plain(each.at)}  v{each.version}  {each.action}"
        f"  {each.name or each.shelf}  by {each.actor}"
        for each in found
    )
    return Answer(
        data, lines(shown, otherwise="Nothing was changed here.") + _more(found.next_cursor)
    )


@command(
    app,
    "search",
    shape=HitsShape,
    examples=['search "tide gauge"', "search calibration --type plan --tag lab"],
)
def search(
    shell: Shell,
    *,
    query: Annotated[str, typer.Argument(help="What to look for, as words.")],
    type: TypeOption = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only with this tag; may be repeated.")
    ] = None,
    limit: LimitOption = 20,
    cursor: CursorOption = None,
) -> Answer:
    """Find memories by their words, the best first."""
    hits = shell.shelf.search(query, type=type, tags=tag or (), limit=limit, cursor=cursor)
    data = {
        "hits": [
            {
                "memory": shapes.head(hit.memory),
                "score": round(hit.score, 6),
                "passages": [{"field": it.field, "text": it.text} for it in hit.passages],
            }
            for hit in hits
        ],
        "total": hits.total,
        "next_cursor": hits.next_cursor,
    }
    text = "\n".join(
        "\n".join(
            [
                f"{hit.score:.2f}  {one_line(str(hit.memory))}",
                *(f"      {one_line(it.text)}" for it in hit.passages if it.field == "content"),
            ]
        )
        for hit in hits
    )
    return Answer(data, (text or "Nothing matches.") + _more(hits.next_cursor))


@command(
    app,
    "recall",
    shape=RecallShape,
    examples=['recall "Write my newsletter"', 'recall "Which pump?" --max-chars 600'],
)
def recall(
    shell: Shell,
    *,
    prompt: Annotated[str, typer.Argument(help="What an agent is asked.")],
    limit: Annotated[int, typer.Option("--limit", "-n", help="Most memories.")] = 8,
    max_chars: Annotated[int, typer.Option(help="Most characters of the block.")] = 1200,
    type: TypeOption = None,
) -> Answer:
    """Print the block of memories that belongs before a prompt."""
    found = shell.shelf.relevant_for_prompt(prompt, limit, max_chars, type=type)
    data = {
        "context": found.as_context(),
        "items": [
            {
                "memory": shapes.head(item.memory),
                "text": item.text,
                "score": round(item.score, 6),
                "shortened": item.shortened,
            }
            for item in found.items
        ],
        "report": [
            {"id": str(each.memory.id), "outcome": each.outcome, "reason": each.reason}
            for each in found.report
        ],
    }
    return Answer(data, found.as_context())


def _more(cursor: str | None) -> str:
    return "" if cursor is None else f"\n… more with --cursor {cursor}"
