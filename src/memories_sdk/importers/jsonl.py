"""JSON lines, both ways: a shelf with its whole history, its deleted memories and its pictures.

The first line names the format and its version; each further line is one record:

    {"format": "memories-sdk", "version": 1}
    {"kind": "picture", "name": "plot.png", "content": "iVBORw0KGgo…"}
    {"kind": "memory", "type": "plan", "name": "tide", …, "history": [{"version": 2, …}, …]}

A record holds no id and no owner: the scope that imports decides whose it is. Times are ISO 8601
in UTC. A history stands newest first; each change tells what it overwrote. What is taken out comes
back the same, to the byte.
"""

from __future__ import annotations

import base64
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from uuid6 import UUID

from memories_sdk.attachments import picture_digest, picture_id
from memories_sdk.errors import HistoryShortened, InvalidInput, MemoriesError, NotFound
from memories_sdk.history import ENDINGS, NEIGHBOURS, Action, Revision
from memories_sdk.importers.bringing import Entry, Item, Progress, Report, bring
from memories_sdk.importers.files import new_file
from memories_sdk.memory import DERIVED, Memory, Vocabulary
from memories_sdk.past import STATE_FIELDS, Past, Policy, Version, version_of, walk_back
from memories_sdk.reader import ScopeReader
from memories_sdk.scope import Scope

FORMAT: Final = "memories-sdk"
VERSION: Final = 1
LONGEST: Final = 256 * 1024 * 1024
"""Most bytes of a line, of a memory with its history: whoever reads one holds it whole."""

PAGE: Final = 64
"""Memories that are read at once, with bodies and histories: each body may have a mebibyte."""

MOST_REVISIONS: Final = 500
_RECORD: Final = frozenset(
    (*STATE_FIELDS, "kind", "deleted", "created_at", "updated_at", "summary_derived", "history")
)
_CHANGE: Final = frozenset(("version", "action", "actor", "source", "at", "before"))
_STATE: Final = (*STATE_FIELDS, "summary_derived")
_TIMES: Final = ("created_at", "updated_at", "expires_at", "at")
_RENAMED: Final[Mapping[str, Action]] = {"depart": "delete", "arrive": "restore"}
"""What a move between two shelves is to a record that knows of one."""


def export(
    shelf: Scope,
    path: Path,
    *,
    type: str | None = None,
    history: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write a shelf into a file and return how many memories it holds.

    Args:
        shelf: What is written.
        path: The file, readable by its owner alone.
        type: Only this type.
        history: Whether earlier versions and deleted memories are written too.
        overwrite: Replace a file that is there.
        progress: Called after each memory.

    A history that is too long for a line goes without its oldest versions, and `HistoryShortened`
    warns of it.

    Raises:
        InvalidInput: The file exists.
    """
    count = 0
    with new_file(path, overwrite=overwrite) as file:
        file.write(_line({"format": FORMAT, "version": VERSION}))
        for picture in sorted(shelf.attachments(), key=lambda each: each.id):
            content = base64.b64encode(shelf.attachment(picture.id).content).decode()
            file.write(_line({"kind": "picture", "name": picture.name, "content": content}))
        for record, total in _records(shelf, type, history=history):
            line = _line(record)
            file.write(line if len(line) <= LONGEST else _line(_shortened(record)))
            count += not record.get("deleted")
            if progress is not None:
                progress(count, total)
    return count


def bring_in(
    shelf: Scope,
    path: str | os.PathLike[str],
    *,
    conflict: Policy = "skip",
    dry_run: bool = False,
    progress: Progress | None = None,
    listener: Callable[[Entry], None] | None = None,
) -> Report:
    """Bring the memories and pictures of a file to a shelf, one line at a time.

    Args:
        shelf: Where they go.
        path: The file.
        conflict: What to do where another memory has the name; see `Scope.adopt`.
        dry_run: Tell what would become of each record, and write nothing.
        progress: Called after each batch.
        listener: Called with what became of each record.

    Raises:
        InvalidInput: The file is none of this format, or of a later version.
        NameTaken: There is a conflict and it shall fail; nothing was written.
    """
    place = Path(path)
    _check_head(place)
    return bring(
        shelf,
        lambda dry: _items(shelf, place, dry_run=dry),
        conflict=conflict,
        dry_run=dry_run,
        total=_count_lines(place) - 1,
        progress=progress,
        listener=listener,
    )


def _records(
    shelf: ScopeReader, type: str | None, *, history: bool
) -> Iterator[tuple[dict[str, object], int]]:
    total = shelf.list(type=type, limit=1).total
    for ids in _parted(_gone(shelf) if history else ()):
        for revisions in _histories(shelf, ids).values():
            last = revisions[0]
            if type is None or last.type == type:
                yield _record(last.before, revisions) | {"deleted": True}, total
    cursor: str | None = None
    while True:
        page = shelf.read(type=type, limit=PAGE, cursor=cursor)
        ids = [memory.id for memory in page.memories]
        revisions_of = _histories(shelf, ids) if history else {}
        for memory in page.memories:
            yield _record(_state(memory), revisions_of.get(memory.id, ())), total
        if (cursor := page.next_cursor) is None:
            return


def _gone(shelf: ScopeReader) -> list[UUID]:
    """Return the ids of the memories that were deleted here, in the order of their going."""
    gone: dict[UUID, None] = {}
    since = 0
    while changes := shelf.changes(since=since, limit=MOST_REVISIONS):
        since = changes[-1].seq
        for each in changes:
            if each.memory_id is None:
                continue
            gone.pop(each.memory_id, None)
            if each.action in ENDINGS and each.action != "depart" and each.before:
                gone[each.memory_id] = None
    return list(gone)


def _parted(ids: Iterable[UUID]) -> Iterator[list[UUID]]:
    rest = iter(ids)
    while part := list(islice(rest, PAGE)):
        yield part


def _histories(shelf: ScopeReader, ids: Sequence[UUID]) -> dict[UUID, list[Revision]]:
    """Return all revisions of each of some memories, newest first."""
    found: dict[UUID, list[Revision]] = {id: [] for id in ids}
    cursor: str | None = None
    while True:
        page = shelf.history(ids=ids, limit=MOST_REVISIONS, cursor=cursor)
        for revision in page:
            if revision.memory_id is not None:
                found[revision.memory_id].append(revision)
        if (cursor := page.next_cursor) is None:
            return found


def _state(memory: Memory) -> dict[str, object]:
    fields = ("created_at", "updated_at")
    return {name: getattr(memory, name) for name in (*_STATE, *fields)}


def _record(state: Mapping[str, object], revisions: Sequence[Revision]) -> dict[str, object]:
    record: dict[str, object] = {"kind": "memory"}
    kept = (*_STATE, "created_at") if revisions else (*_STATE, "created_at", "updated_at")
    record |= {name: state[name] for name in kept if name in state}
    if revisions:
        walked = list(walk_back(state, revisions))
        oldest = walked[-1][0]
        record["history"] = [_change(*each, began=each[0] is oldest) for each in walked]
    return record


def _change(
    revision: Revision, state: Mapping[str, object] | None, *, began: bool
) -> dict[str, object]:
    # What came before the oldest known version was pruned, or is another shelf's affair.
    known = {} if began or revision.action == "arrive" else revision.before
    # A text that was blotted out is the same in both states; neighbours have other ids elsewhere.
    before = {
        name: value
        for name, value in known.items()
        if name not in NEIGHBOURS and (state is None or state.get(name) != value)
    }
    return {
        "version": revision.version,
        "action": _RENAMED.get(revision.action, revision.action),
        "actor": revision.actor,
        "source": revision.source,
        "at": revision.at,
        "before": before,
    }


def _shortened(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with as many of its newest versions as a line holds."""
    room = LONGEST - len(_line(record | {"history": []}))
    kept: list[dict[str, Any]] = []
    for change in record["history"]:
        if (room := room - len(_line(change))) < 0:
            break
        kept.append(change)
    # A history begins with a version that is there: a deletion tells nothing of what it ended.
    while len(kept) > 1 and kept[-1]["action"] in ENDINGS:
        kept.pop()
    kept[-1] = kept[-1] | {"before": {}}
    warnings.warn(
        f"The history of [{record['name']}] (type={record['type']}) is longer than a line may be: "
        f"the file holds it from version {kept[-1]['version']} on.",
        HistoryShortened,
        stacklevel=3,
    )
    return record | {"history": kept}


def _line(record: Mapping[str, object]) -> bytes:
    return _encode(record).translate(_LINE_ENDS).encode() + b"\n"


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    msg = f"no JSON form for {type(value).__name__}"
    raise TypeError(msg)


_encode: Final = json.JSONEncoder(ensure_ascii=False, default=_plain).encode


_LINE_ENDS: Final = {ord(each): f"\\u{ord(each):04x}" for each in "\x85\u2028\u2029"}
"""What many a reader takes for the end of a line, though JSON does not."""


def _check_head(path: Path) -> None:
    try:
        with path.open("rb") as file:
            head = _decoded(file.readline(1_000))
    except InvalidInput:
        head = {}
    if head.get("format") != FORMAT:
        raise InvalidInput(
            f"{path} is no export of memories in JSON lines.",
            field="path",
            suggestion=f'Its first line must be {{"format": "{FORMAT}", "version": {VERSION}}}.',
        )
    if head.get("version") != VERSION:
        raise InvalidInput(
            f"{path} has version {head.get('version')} of the format; this release reads 1.",
            field="path",
            suggestion="Install a newer memories-sdk.",
        )


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def _items(shelf: Scope, path: Path, *, dry_run: bool) -> Iterator[Item]:
    with path.open("rb") as file:
        file.readline()
        number = 1
        while line := file.readline(LONGEST + 1):
            number += 1
            place = f"line {number}"
            if len(line) > LONGEST:
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST)
                yield Item(place, error=InvalidInput(f"It has more than {LONGEST:,} bytes."))
            elif line.strip():
                yield _item(shelf, line, place, dry_run=dry_run)


def _item(shelf: Scope, line: bytes, place: str, *, dry_run: bool) -> Item:
    try:
        record = _decoded(line)
        match record.get("kind"):
            case "memory":
                return Item(place, past_of(record, shelf.vocabularies))
            case "picture":
                return _picture(shelf, record, place, dry_run=dry_run)
            case kind:
                raise InvalidInput(f"A record of the kind {kind!r} is not known.")
    except MemoriesError as error:
        return Item(place, error=error)


def _picture(shelf: Scope, record: Mapping[str, Any], place: str, *, dry_run: bool) -> Item:
    try:
        content = base64.b64decode(record["content"], validate=True)
        name = str(record["name"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("A picture needs a name, and its bytes in base64.") from error
    id = picture_id(picture_digest(content))
    try:
        shelf.attachment(id)
    except NotFound:
        if not dry_run:
            shelf.attach(content, name=name)
        return Item(place, fate="created", name=name, type="picture")
    return Item(place, fate="unchanged", name=name, type="picture")


def past_of(record: Mapping[str, Any], vocabularies: Sequence[Vocabulary]) -> Past:
    """Return the memory of a record.

    Raises:
        InvalidInput: A field is unknown, missing or breaks its rule.
    """
    _check_keys(record, _RECORD)
    state = _timed(record)
    created = state.get("created_at")
    if "history" not in record:
        fields = _fields(state)
        return Past((version_of(vocabularies, fields, at=state.get("updated_at")),), created)
    versions = []
    for change, past in walk_back(state, [_revision(each) for each in _listed(record["history"])]):
        facts: dict[str, Any] = {
            "action": change.action,
            "version": change.version,
            "actor": change.actor,
            "source": change.source,
            "at": change.at,
        }
        if past is None:
            versions.append(Version(None, **facts))
        else:
            versions.append(version_of(vocabularies, _fields(past), **facts))
    if not versions or versions[-1].draft is None:
        raise InvalidInput("A history needs a first version.", field="history")
    if (versions[0].draft is None) != (record.get("deleted") is True):
        raise InvalidInput("deleted contradicts the history.", field="deleted")
    return Past(tuple(reversed(versions)), created)


def _fields(state: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: state[name] for name in STATE_FIELDS if name in state}
    if not isinstance(state.get("content"), str):
        raise InvalidInput("content must be text.", field="content")
    return fields | ({"summary": DERIVED} if state.get("summary_derived") is True else {})


def _revision(change: object) -> Revision:
    if not isinstance(change, dict) or not isinstance(change.get("before"), dict):
        raise InvalidInput("A change needs an object `before`.", field="history")
    _check_keys(change, _CHANGE)
    facts = _timed(change)
    if not isinstance(facts.get("at"), datetime) or change.get("action") not in _ACTIONS:
        raise InvalidInput("A change needs an action and a time.", field="history")
    if type(change.get("version")) is not int or not isinstance(change.get("actor"), str):
        raise InvalidInput("A change needs a version and an actor.", field="history")
    return Revision(
        seq=0,
        memory_id=None,
        shelf="",
        action=change["action"],
        actor=change["actor"],
        source=change.get("source"),
        at=facts["at"],
        version=change["version"],
        type=None,
        name=None,
        before=_timed(change["before"]),
    )


_ACTIONS: Final = frozenset(
    ("create", "update", "replace", "delete", "clear", "expire", "restore", "redact")
)


def _listed(value: object) -> list[object]:
    if not isinstance(value, list):
        raise InvalidInput("history must be a list.", field="history")
    return value


def _check_keys(record: Mapping[str, Any], known: frozenset[str]) -> None:
    if foreign := record.keys() - known:
        raise InvalidInput(
            f"A record has no key {min(foreign)!r}.",
            suggestion="Whose a memory is, and its id, are decided by the shelf that imports.",
        )


def _timed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record with its times read."""
    found = dict(record)
    for name in _TIMES:
        if (text := found.get(name)) is None:
            continue
        try:
            moment = datetime.fromisoformat(text)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{name} is no time.", field=name) from error
        if moment.tzinfo is None:
            raise InvalidInput(f"{name} has no time zone.", field=name)
        found[name] = moment.astimezone(UTC)
    return found


def _decoded(line: bytes) -> dict[str, Any]:
    """Return the object of a line, read strictly: no key twice, no number that is none.

    Raises:
        InvalidInput: It is none.
    """
    try:
        value = json.loads(line.decode(), object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("It is no JSON object in UTF-8.") from error
    if not isinstance(value, dict):
        raise InvalidInput("It is no JSON object.")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "a key stands twice"
        raise ValueError(msg)
    return found


def _refused(text: str) -> None:
    raise ValueError(text)
