"""Markdown folders, both ways: `<type>/<name>.md`, with our fields in the front matter.

What is taken out comes back the same, to the byte, and so does what a user has in front matter of
their own. A folder that was made by somebody else is read too: the type is guessed, and shown
before anything is written.

```python
from memories_sdk.importers import markdown_folder

markdown_folder.export(shelf, "backup")
for document in markdown_folder.look("memory-bank", shelf.vocabularies).documents:
    print(document)
markdown_folder.bring_in(shelf, "memory-bank", dry_run=True)
```
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from memories_sdk.errors import InvalidInput, MemoriesError
from memories_sdk.importers import file_names, front_matter
from memories_sdk.importers.bringing import Entry, Item, Progress, Report, bring
from memories_sdk.importers.files import Folder, Found, text_of
from memories_sdk.importers.guesses import guess_type, index_of
from memories_sdk.memory import MAX_BODY_BYTES, Memory, Vocabulary
from memories_sdk.past import Past, Policy, single
from memories_sdk.reader import ScopeReader
from memories_sdk.scope import Scope

LARGEST: Final = MAX_BODY_BYTES + front_matter.LARGEST
"""Most bytes of a file that is read."""

INDEX: Final = "MEMORY.md"
PAGE: Final = 64
"""Memories that are read at once: each body may have a mebibyte."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file, as it would be taken in.

    Attributes:
        path: Where it stands in the folder.
        type: The type it would have; None when it cannot be read.
        reason: What the type was guessed from; empty where nothing was guessed.
        error: Why it cannot be read.
    """

    path: str
    type: str | None
    name: str | None
    reason: str = ""
    error: MemoriesError | None = None

    def __str__(self) -> str:
        if self.error is not None:
            return f"{self.path}: {self.error.message}"
        why = f", by {self.reason}" if self.reason else ""
        return f"{self.path} → [{self.name}] (type={self.type}){why}"


@dataclass(frozen=True, slots=True)
class Look:
    """What a folder holds, before anything is written.

    Attributes:
        documents: Each file, in the order of their paths.
    """

    documents: tuple[Document, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.documents)) or "no markdown files"


def look(
    path: str | os.PathLike[str], vocabularies: Sequence[Vocabulary], *, type: str | None = None
) -> Look:
    """Return what `bring_in` would make of a folder, without a shelf.

    Args:
        path: The folder.
        vocabularies: The types there are: those of a scope.
        type: The type of all files that do not say theirs, instead of a guess.

    Raises:
        NotFound: There is no such folder.
    """
    root, only = _where(path)
    with Folder(root) as folder:
        return Look(tuple(_document(it) for it in _items(folder, vocabularies, type, only)))


def bring_in(
    shelf: Scope,
    path: str | os.PathLike[str],
    *,
    type: str | None = None,
    conflict: Policy = "skip",
    dry_run: bool = False,
    progress: Progress | None = None,
    listener: Callable[[Entry], None] | None = None,
) -> Report:
    """Bring the markdown files of a folder, or a single one, to a shelf.

    Owner, id and times are never read from a file. Links, and whatever is no regular file, are
    left out and named in the report.

    Args:
        shelf: Where they go.
        path: The folder, or a markdown file.
        type: The type of all files that do not say theirs, instead of a guess.
        conflict: What to do where another memory has the name; see `Scope.adopt`.
        dry_run: Tell what would become of each file, and write nothing.
        progress: Called after each batch.
        listener: Called with what became of each file.

    Raises:
        NotFound: There is no such folder.
        NameTaken: There is a conflict and it shall fail; nothing was written.
    """
    root, only = _where(path)
    with Folder(root) as folder:
        return bring(
            shelf,
            lambda _: _items(folder, shelf.vocabularies, type, only),
            conflict=conflict,
            dry_run=dry_run,
            total=sum(1 for _ in folder.walk()),
            progress=progress,
            listener=listener,
        )


def export(
    shelf: ScopeReader,
    path: str | os.PathLike[str],
    *,
    type: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> list[str]:
    """Write a shelf into a folder and return the paths of the files.

    Args:
        shelf: What is written.
        path: The folder; made where it is missing, readable by its owner alone.
        type: Only this type.
        overwrite: Write into a folder that holds something; files of other names stay.
        progress: Called after each page of the list.

    Raises:
        InvalidInput: The folder holds something, and nothing shall be overwritten.
    """
    written: list[str] = []
    names = FileNames()
    with Folder(path, create=True) as folder:
        if not overwrite and any(True for _ in folder.walk()):
            raise InvalidInput(
                f"{path} is not empty.",
                field="path",
                suggestion="Name another folder, or choose to overwrite files of the same name.",
            )
        for memory, total in memories_of(shelf, type):
            parts, text = written_as(memory, names)
            folder.write(parts, text.encode())
            written.append("/".join(parts))
            if progress is not None:
                progress(len(written), total)
    return written


class FileNames:
    """Gives each memory a file of its own, also where capitals and small letters are one."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def parts(self, memory: Memory) -> tuple[str, str]:
        """Return folder and file name for a memory."""
        folder = file_names.stem_of(memory.type)
        stem = file_names.distinct(
            file_names.stem_of(memory.name), lambda stem: f"{folder}/{stem}" in self._taken
        )
        self.take((folder, stem + file_names.ENDING))
        return folder, stem + file_names.ENDING

    def take(self, parts: Sequence[str]) -> None:
        """Leave a file name to whoever has it."""
        stem = parts[-1].removesuffix(file_names.ENDING)
        self._taken.add("/".join((*parts[:-1], file_names.folded(stem))))


def written_as(memory: Memory, names: FileNames) -> tuple[tuple[str, str], str]:
    """Return the place of a memory's file, and its text."""
    parts = names.parts(memory)
    return parts, file_text(memory, parts)


def file_text(memory: Memory, parts: Sequence[str]) -> str:
    """Return the text of a memory's file at that place."""
    fields: dict[str, Any] = {}
    if identity(parts) != (memory.type, memory.name):
        fields["name"] = memory.name
    fields["order"] = memory.order
    if not memory.summary_derived:
        fields["summary"] = memory.summary
    if memory.tags:
        fields["tags"] = list(memory.tags)
    fields |= {flag: True for flag in ("pinned", "untrusted") if getattr(memory, flag)}
    if memory.expires_at is not None:
        fields["expires_at"] = memory.expires_at.isoformat()
    return front_matter.join(memory.content, fields)


def identity(parts: Sequence[str]) -> tuple[str | None, str]:
    """Return the type, where a folder says it, and the name that a place gives."""
    stem = parts[-1].removesuffix(file_names.ENDING)
    names = [file_names.name_of(each) for each in (*parts[:-1], stem)]
    if len(parts) == 1:
        return None, names[0]
    return names[0], "/".join(names[1:])


def memories_of(shelf: ScopeReader, type: str | None) -> Iterator[tuple[Memory, int]]:
    """Yield each memory in list order, with how many there are."""
    cursor: str | None = None
    while True:
        page = shelf.read(type=type, limit=PAGE, cursor=cursor)
        for memory in page.memories:
            yield memory, page.total
        if (cursor := page.next_cursor) is None:
            return


def past_of(
    text: str,
    parts: Sequence[str],
    vocabularies: Sequence[Vocabulary],
    *,
    type: str | None = None,
    hook: str = "",
) -> tuple[Past, str]:
    """Return what a file holds, and what its type was guessed from.

    Args:
        text: Its text.
        parts: Where it stands.
        vocabularies: The types there are.
        type: The type when the file does not say it, instead of a guess.
        hook: What an index says of it.

    Raises:
        InvalidInput: A field breaks its rule.
    """
    found = front_matter.split(text)
    types = [each for vocabulary in vocabularies for each in vocabulary.types]
    stem = (*parts[:-1], parts[-1].removesuffix(file_names.ENDING))
    said, name = identity(parts)
    reason = ""
    if said not in types:
        name = "/".join(map(file_names.name_of, stem))
        guess = guess_type(stem, found.user, types)
        said, reason = (guess.type, guess.reason) if type is None else (type, "what you said")
    fields: dict[str, Any] = {"type": said, "name": name, "content": found.content}
    fields |= _hints(found.user, hook) if not found.fields else {}
    fields |= {key: _typed(key, value) for key, value in found.fields.items()}
    return single(vocabularies, fields), reason


def _hints(user: Mapping[str, Any], hook: str) -> dict[str, Any]:
    """Return what a user's own front matter says of a memory, where it is of the right kind."""
    found: dict[str, Any] = {}
    summary = user.get("summary", user.get("description", hook or None))
    if isinstance(summary, str) and len(summary.split()) > 0 and len(summary) <= _LONGEST_HINT:
        found["summary"] = summary
    tags = user.get("tags")
    if isinstance(tags, list) and all(isinstance(each, str) for each in tags):
        found["tags"] = tags
    return found


_LONGEST_HINT: Final = 500


def _typed(key: str, value: object) -> object:
    """Return a value of ours as the shelf takes it: a moment may be written in several ways."""
    if key != "expires_at" or value is None:
        return value
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError as error:
        raise InvalidInput(f"expires_at {value!r} is no time.", field="expires_at") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _where(path: str | os.PathLike[str]) -> tuple[Path, str | None]:
    """Return the folder to open, and the only file of it that is meant."""
    place = Path(path)
    if place.suffix == file_names.ENDING and place.is_file():
        return place.parent, place.name
    return place, None


def _items(
    folder: Folder, vocabularies: Sequence[Vocabulary], type: str | None, only: str | None
) -> Iterator[Item]:
    hooks = _hooks(folder)
    for found in folder.walk():
        if only is not None and found.parts != (only,):
            continue
        if found.skipped:
            yield Item(found.path, error=InvalidInput(f"It is {found.skipped}."))
        elif found.parts[-1].endswith(file_names.ENDING):
            yield _item(folder, found, vocabularies, type, hooks.get(found.path, ""))


def _item(
    folder: Folder, found: Found, vocabularies: Sequence[Vocabulary], type: str | None, hook: str
) -> Item:
    try:
        text = text_of(folder.read(found.parts, limit=LARGEST))
        past, reason = past_of(text, found.parts, vocabularies, type=type, hook=hook)
    except MemoriesError as error:
        return Item(found.path, error=error)
    return Item(found.path, past, note=reason and f"type by {reason}")


def _hooks(folder: Folder) -> dict[str, str]:
    try:
        return index_of(text_of(folder.read((INDEX,), limit=LARGEST)))
    except MemoriesError:
        return {}


def _document(item: Item) -> Document:
    if item.past is None:
        return Document(item.place, None, None, error=item.error)
    reason = item.note.removeprefix("type by ")
    return Document(item.place, item.past.type, item.past.name, reason)
