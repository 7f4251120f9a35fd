"""Looks a store over: what is wrong, what would help, and what was mended."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

from sqlalchemy.schema import CreateIndex

from memories_sdk.database import IN_MEMORY, Connection, Database
from memories_sdk.engines.places import network
from memories_sdk.engines.sqlite import SqliteDatabase
from memories_sdk.errors import StoreUnavailable
from memories_sdk.integrity import findings
from memories_sdk.search import word_index
from memories_sdk.search.entries import entries
from memories_sdk.tables import metadata
from memories_sdk.wording import EMBEDDED

Check = Literal[
    "content", "orphan", "search", "schema", "permissions", "engine", "file system", "leftover"
]

MENDED: Final = (3, 51, 3)
"""The first SQLite whose write-ahead log several writers cannot corrupt."""

STALE: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing that a store has.

    Attributes:
        check: "content" (what `verify` finds), "orphan" (rows whose owner is gone), "search" (an
            index that does not fit the memories), "schema" (a missing index), "permissions"
            (others can read the file), "engine" (a SQLite with a known defect), "file system" (a
            network's), or "leftover" (files that a dead program left).
        grave: Whether something is lost or may be; else it is good to know.
        text: What it is, one sentence.
        advice: What helps.
        repaired: Whether it was mended just now.
    """

    check: Check
    grave: bool
    text: str
    advice: str
    repaired: bool = False

    def __str__(self) -> str:
        return f"{self.check}: {self.text} {'Mended.' if self.repaired else self.advice}"


def examine(database: Database, *, repair: bool) -> list[Symptom]:
    """Return what a store has, grave things first; with `repair`, mend what can be mended."""
    found = list(_content(database))
    if isinstance(database, SqliteDatabase):
        found += _orphans(database, repair=repair)
        found += _missing_indexes(database, repair=repair)
        found += _engine()
        if database.location != IN_MEMORY:
            found += _around(Path(database.location), repair=repair)
    found += _search(database, repair=repair)
    return sorted(found, key=lambda symptom: not symptom.grave)


def _content(database: Database) -> Iterator[Symptom]:
    advice = "Restore the file from a backup, or the memory from its history."
    with database.read(snapshot=True) as connection:
        for each in findings(connection, database.cipher):
            yield Symptom("content", grave=True, text=str(each), advice=advice)


_STRAYS: Final = "FROM memory_bodies WHERE row NOT IN (SELECT row FROM memories)"
_BARE: Final = "SELECT count(*) FROM memories WHERE row NOT IN (SELECT row FROM memory_bodies)"
_HOMELESS: Final = """FROM attachments WHERE scope_key NOT IN (
  SELECT 'global:' || id FROM principals UNION ALL SELECT 'agent:' || id FROM agents)"""


def _orphans(database: SqliteDatabase, *, repair: bool) -> Iterator[Symptom]:
    with database.write() if repair else database.read() as connection:
        for what, rows in (("bodies", _STRAYS), ("pictures", _HOMELESS)):
            count = connection.execute(f"SELECT count(*) {rows}").fetchone()[0]
            if count:
                if repair:
                    connection.execute(f"DELETE {rows}")
                text = f"{count} {what} belong to nothing."
                advice = "doctor(repair=True) removes them."
                yield Symptom("orphan", grave=False, text=text, advice=advice, repaired=repair)
        bare = connection.execute(_BARE).fetchone()[0]
    if bare:
        text = f"{bare} memories have lost their body."
        yield Symptom("orphan", grave=True, text=text, advice="Restore them from their history.")


def _missing_indexes(database: SqliteDatabase, *, repair: bool) -> Iterator[Symptom]:
    with database.write() if repair else database.read() as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall()
        names = {name for (name,) in rows}
        for table in metadata.sorted_tables:
            for index in table.indexes:
                if str(index.name) not in names:
                    if repair:
                        connection.execute(str(CreateIndex(index).compile(dialect=EMBEDDED)))
                    text = f"The index {index.name} is missing."
                    advice = "doctor(repair=True) makes it anew."
                    yield Symptom("schema", grave=False, text=text, advice=advice, repaired=repair)


def _engine() -> Iterator[Symptom]:
    if (3, 7, 0) <= sqlite3.sqlite_version_info < MENDED:
        text = (
            f"SQLite {sqlite3.sqlite_version} can corrupt a write-ahead log when several programs"
            " write at the same instant."
        )
        advice = (
            "Programs that use memories-sdk take turns, so that it cannot happen among them; let no"
            " other program write to the file, or use SQLite 3.51.3 or newer."
        )
        yield Symptom("engine", grave=False, text=text, advice=advice)


def _around(path: Path, *, repair: bool) -> Iterator[Symptom]:
    if (kind := network(path)) is not None:
        text = f"The file lies on a network file system ({kind})."
        advice = "Move it to a disk of this machine, or use a server such as PostgreSQL."
        yield Symptom("file system", grave=True, text=text, advice=advice)
    name = re.escape(path.name)
    beside = _files(path.parent, rf"{name}(-wal|-shm|-journal|-turn|\..+\.part)?")
    copies = _files(path.parent, rf"{re.escape(path.stem)}\.before-v.+\.db")
    yield from _open_to_others(beside | copies, repair=repair)
    for each, status in copies.items():
        text = f"{each.name} is the copy made before a migration ({status.st_size:,} bytes)."
        advice = "Remove it once you trust the new file: it holds what was redacted since."
        yield Symptom("leftover", grave=False, text=text, advice=advice)
    yield from _half_copies(beside, repair=repair)


def _files(directory: Path, pattern: str) -> dict[Path, os.stat_result]:
    """Return the files whose whole name is of a pattern, without those that go meanwhile."""
    found = {}
    try:
        for each in sorted(directory.iterdir()):
            if re.fullmatch(pattern, each.name, re.DOTALL):
                with suppress(FileNotFoundError):
                    found[each] = each.stat()
    except OSError as error:
        raise StoreUnavailable(
            f"{directory} cannot be looked into: {error.strerror}.",
            suggestion="Check that you may read the directory, and try again.",
        ) from error
    return found


def _open_to_others(files: Mapping[Path, os.stat_result], *, repair: bool) -> Iterator[Symptom]:
    for each, status in files.items():
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o077:
            if repair:
                each.chmod(mode & 0o700)
            text = f"Others can open {each.name} (mode {mode:o})."
            advice = "doctor(repair=True) keeps them out."
            yield Symptom("permissions", grave=True, text=text, advice=advice, repaired=repair)


def _half_copies(files: Mapping[Path, os.stat_result], *, repair: bool) -> Iterator[Symptom]:
    for each, status in files.items():
        age = datetime.now(UTC) - datetime.fromtimestamp(status.st_mtime, UTC)
        if each.suffix == ".part" and age > STALE:
            if repair:
                each.unlink()
            text = f"{each.name} is half a copy that a dead program left."
            advice = "doctor(repair=True) removes it."
            yield Symptom("leftover", grave=False, text=text, advice=advice, repaired=repair)


_SHELVES: Final = "SELECT scope_key, shelf, seq FROM search_shelves WHERE seq IS NOT NULL"
_DRIFT: Final = """
SELECT count(*) FROM memories m LEFT JOIN search_memories s ON s.shelf = :shelf AND s.id = m.id
WHERE m.scope_key = :scope_key AND (s.version IS NULL OR s.version <> m.version)
"""


def _search(database: Database, *, repair: bool) -> list[Symptom]:
    with database.read(snapshot=True) as connection:
        drifted = list(_drifted(connection))
    if repair:
        for key in drifted:
            with database.write(shelf=key) as connection:
                word_index.erase(connection, key)
    text = "The search index of {} does not fit its memories."
    advice = "doctor(repair=True) lets the next search make it anew."
    found = [Symptom("search", False, text.format(key), advice) for key in drifted]  # noqa: FBT003
    return [replace(each, repaired=repair) for each in found]


def _drifted(connection: Connection) -> Iterator[str]:
    if not entries(connection).there():
        return
    for key, shelf, seq in connection.execute(_SHELVES).fetchall():
        place = {"scope_key": key, "shelf": shelf}
        fresh = word_index.last_change(connection, key) == seq
        if fresh and connection.execute(_DRIFT, place).fetchone()[0]:
            yield key
