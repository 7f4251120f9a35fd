"""Commands that write one memory: save, edit, replace, delete, restore."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from memories_sdk.cli import shapes
from memories_sdk.cli.reading import NameArgument
from memories_sdk.cli.refusals import one_line
from memories_sdk.cli.shell import Answer, Shell, TypeOption, VersionOption, command
from memories_sdk.errors import EditConflict, InvalidInput, MemoriesError, NotFound
from memories_sdk.memory import DERIVED, UNSET, Derived, Memory, Unset

app = typer.Typer()


class SavedShape(TypedDict):
    """What a save did."""

    created: bool
    memory: shapes.MemoryShape


class EditedShape(TypedDict):
    """What came of an edit; `changed` is false when the editor left the text as it was."""

    changed: bool
    memory: shapes.MemoryShape


@command(
    app,
    "save",
    shape=SavedShape,
    examples=[
        "save voice --type context --content 'Answer in British English.'",
        "save plan-b --type plan --file plan.md --tag lab",
        "save notes --type context --file - < notes.md",
    ],
)
def save(
    shell: Shell,
    *,
    name: NameArgument,
    type: Annotated[str, typer.Option("--type", "-t", metavar="TYPE", help="Its type.")],
    content: Annotated[str | None, typer.Option(help="The body.")] = None,
    file: Annotated[
        str | None, typer.Option(metavar="PATH", help="Where the body is; - for the input.")
    ] = None,
    summary: Annotated[
        str | None, typer.Option(help="One line; an empty one lets it follow the body again.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="A tag; may be repeated. Replaces all.")
    ] = None,
    pinned: Annotated[
        bool | None, typer.Option("--pinned/--not-pinned", help="First in a prompt, or not.")
    ] = None,
    order: Annotated[int | None, typer.Option(help="Place in the list.")] = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it vanishes: ISO 8601, or never."),
    ] = None,
    expected_version: VersionOption = None,
) -> Answer:
    """Create a memory, or update it; what is left out stays."""
    if all(each is None for each in (content, file, summary, tag, pinned, order, expires)):
        raise InvalidInput(
            "There is nothing to save.",
            field="content",
            suggestion="Give the body with --content or --file; --file - reads the input.",
        )
    saved = shell.shelf.save(
        name,
        type,
        _body(content, file),
        summary=_summary(summary),
        tags=UNSET if tag is None else tag,
        pinned=UNSET if pinned is None else pinned,
        order=UNSET if order is None else order,
        expires_at=_moment(expires),
        expected_version=expected_version,
    )
    data = {"created": saved.created, "memory": shapes.memory(saved.memory)}
    verb = "Created" if saved.created else "Updated"
    return Answer(data, f"{verb} {_called(saved.memory)}{_expired(saved.memory)}")


@command(
    app,
    "edit",
    shape=EditedShape,
    examples=["edit voice", "EDITOR='code --wait' memories edit plan-b --type plan"],
)
def edit(shell: Shell, *, name: NameArgument, type: TypeOption = None) -> Answer:
    """Open the body of a memory in your editor ($VISUAL, else $EDITOR) and save it.

    When somebody else changed it meanwhile, both changes are brought together; where they
    clash, nothing is saved and your text stays in a file that the message names.
    """
    memory = shell.find(name, type)
    descriptor, path = tempfile.mkstemp(suffix=".md", prefix="memories-")
    file = Path(path)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(memory.content.encode())
    try:
        content = _edited(file)
        changed = content != memory.content
        if changed:
            memory = _save_edit(shell, memory, content)
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "What the editor left is not UTF-8.", suggestion=f"Your text is in {file}."
        ) from error
    except MemoriesError as error:
        if file.is_file() and file.read_bytes() != memory.content.encode():
            error.suggestion = f"Your text is in {file}."
        else:
            file.unlink(missing_ok=True)
        raise
    file.unlink()
    data = {"changed": changed, "memory": shapes.memory(memory)}
    return Answer(data, f"{'Updated' if changed else 'Left'} {_called(memory)}")


@command(
    app,
    "replace",
    shape=shapes.MemoryShape,
    examples=["replace voice --find British --with Scottish"],
)
def replace(
    shell: Shell,
    *,
    name: NameArgument,
    find: Annotated[str, typer.Option(help="A passage that stands exactly once.")],
    new_text: Annotated[str, typer.Option("--with", help="What to put there; may be empty.")],
    type: TypeOption = None,
    expected_version: VersionOption = None,
) -> Answer:
    """Replace one passage of a body."""
    memory = shell.shelf.replace_by_id(
        shell.find(name, type).id, find=find, new_text=new_text, expected_version=expected_version
    )
    return Answer(shapes.memory(memory), f"Updated {_called(memory)}")


@command(
    app,
    "delete",
    shape=shapes.MemoryShape,
    examples=["delete voice", "delete plan-b --type plan --expected-version 3"],
)
def delete(
    shell: Shell,
    *,
    name: NameArgument,
    type: TypeOption = None,
    expected_version: VersionOption = None,
) -> Answer:
    """Delete a memory; `restore` brings it back."""
    memory = shell.find(name, type)
    gone = shell.shelf.delete_by_id(memory.id, expected_version=expected_version)
    return Answer(shapes.memory(gone), f"Deleted {_called(gone)}; its id is {gone.id}")


@command(
    app,
    "restore",
    shape=shapes.MemoryShape,
    examples=["restore voice --type context", "restore voice --type context --version 2"],
)
def restore(
    shell: Shell,
    *,
    name: NameArgument,
    type: TypeOption = None,
    version: Annotated[
        int | None, typer.Option("--version", help="Which one; else the last before the delete.")
    ] = None,
    expected_version: VersionOption = None,
) -> Answer:
    """Bring back a memory that was deleted, or an earlier version of one."""
    id = name
    if type is not None:
        last = shell.shelf.history(name, type, limit=1)
        id = str(last[0].memory_id)
    else:
        for gone in shell.shelf.deleted(limit=500):
            if gone.name == name:
                id = str(gone.memory_id)
                break
        else:
            id = _id_of(shell, name)
    memory = shell.shelf.restore(id, version=version, expected_version=expected_version)
    return Answer(shapes.memory(memory), f"Restored {_called(memory)}")


def _id_of(shell: Shell, name: str) -> str:
    """Return the id of a memory that is there, else the text itself: it may be one."""
    try:
        return str(shell.find(name, None).id)
    except NotFound:
        return name


def _called(memory: Memory) -> str:
    return one_line(f"[{memory.name}] (type={memory.type}), version {memory.version}")


def _expired(memory: Memory) -> str:
    """Return a warning about a memory that was saved with a moment that had passed."""
    end = memory.expires_at
    if end is None or end > memory.updated_at:
        return ""
    back = f"memories restore {shlex.quote(memory.name)} --type {memory.type}"
    said = f"It expired at {end.isoformat()}, so nothing shows it. Bring it back with: {back}"
    return f"\n{one_line(said)}"


def _body(content: str | None, file: str | None) -> str | Unset:
    if content is not None and file is not None:
        raise InvalidInput("Give either --content or --file.", field="content")
    if file is None:
        return UNSET if content is None else content
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    return decoded(data, "the input" if file == "-" else file)


def decoded(data: bytes, what: str) -> str:
    """Return bytes as text; nothing is guessed.

    Raises:
        InvalidInput: They are not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{what} is not UTF-8 (byte {error.start + 1:,}).",
            field="content",
            suggestion="Convert it first, for example with iconv -t UTF-8.",
        ) from error


def _summary(text: str | None) -> str | Derived | Unset:
    if text is None:
        return UNSET
    return text if text.strip() else DERIVED


def _moment(text: str | None) -> datetime | Unset | None:
    if text is None:
        return UNSET
    if text == "never":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} is no time.",
            field="expires_at",
            suggestion="For example 2030-01-31T12:00:00+00:00.",
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _edited(file: Path) -> str:
    """Return what a person makes of a file."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(editor), str(file)], check=True)  # noqa: S603 - the user's own
        data = file.read_bytes()
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise InvalidInput(
            f"The editor {editor!r} failed; nothing was saved.",
            suggestion="Set EDITOR to one that waits until you close the file.",
        ) from error
    return data.decode()


def _save_edit(shell: Shell, memory: Memory, content: str) -> Memory:
    try:
        return shell.shelf.update(memory.id, content=content, expected_version=memory.version)
    except EditConflict as conflict:
        both = conflict.difference
        if conflict.current is None or both is None or not both.clean:
            raise
        return shell.shelf.update(
            memory.id, content=both.text, expected_version=conflict.current.version
        )
