"""From OpenWP: the table `openwp_memory` of MySQL or MariaDB, or a dump of it.

OpenWP keeps one store for a whole site: its facts go to the one shelf that the caller names. A key
that it spelt for addresses (`%e5%b1%b1`) becomes readable, and a text stays as it was stored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from memories_sdk.errors import InvalidInput, MemoriesError
from memories_sdk.importers.bringing import Entry, Item, Progress, Report, bring
from memories_sdk.importers.foreign import Row, Source, moment
from memories_sdk.importers.sql_dump import rows_of
from memories_sdk.memory import Vocabulary
from memories_sdk.past import Past, Policy, version_of
from memories_sdk.scope import Scope

ENDING: Final = "openwp_memory"
_COLUMNS: Final = frozenset(("memory_type", "memory_key", "memory_value"))


def bring_in(
    shelf: Scope,
    place: str | os.PathLike[str],
    *,
    prefix: str | None = None,
    conflict: Policy = "skip",
    dry_run: bool = False,
    progress: Progress | None = None,
    listener: Callable[[Entry], None] | None = None,
) -> Report:
    """Bring the facts of a WordPress site to a shelf.

    Args:
        shelf: Where they go.
        place: A dump (a file that ends with .sql), an SQLite file, or a URL `mysql://…`.
        prefix: What WordPress puts before the names of its tables, such as "wp_"; needed only
            where there are several such tables.
        conflict: What to do where another fact has the key; see `Scope.adopt`.
        dry_run: Tell what would become of each row, and write nothing.
        progress: Called after each batch.
        listener: Called with what became of each row.

    Raises:
        InvalidInput: There is no such table, or several, or the dump cannot be read.
    """

    def read(rows: Callable[[], Iterable[Row]], total: int | None) -> Report:
        return bring(
            shelf,
            lambda _: _items(rows(), shelf.vocabularies),
            conflict=conflict,
            dry_run=dry_run,
            total=total,
            progress=progress,
            listener=listener,
        )

    if os.fspath(place).endswith(".sql"):
        dump = Path(place)
        found = {name for name, _ in rows_of(dump, ENDING)}
        table = _chosen(found, prefix)
        return read(lambda: (row for name, row in rows_of(dump, ENDING) if name == table), None)
    with Source(place) as source:
        table = _chosen({each for each in source.tables if each.endswith(ENDING)}, prefix)
        if not source.columns(table) >= _COLUMNS:
            raise InvalidInput(f"{table} is no table of OpenWP.", field="place")
        return read(lambda: source.rows(table, "id"), source.count(table))


def _chosen(found: set[str], prefix: str | None) -> str:
    if prefix is not None:
        found &= {prefix + ENDING}
    if len(found) != 1:
        names = ", ".join(sorted(found)) or "none"
        raise InvalidInput(
            f"There must be one table of OpenWP; there is {names}.",
            field="prefix",
            suggestion='Name the prefix of the site, such as "wp_".',
        )
    return found.pop()


def _items(rows: Iterable[Row], vocabularies: Sequence[Vocabulary]) -> Iterator[Item]:
    for row in rows:
        place = f"{row.get('memory_type')}/{row.get('memory_key')}"
        try:
            yield Item(place, _past(row, vocabularies))
        except MemoriesError as error:
            yield Item(place, error=error)


def _past(row: Row, vocabularies: Sequence[Vocabulary]) -> Past:
    stored = str(row.get("memory_value") or "")
    if any("\ud800" <= each <= "\udfff" for each in stored):
        raise InvalidInput("Its value is not UTF-8.", field="content")
    value = _decoded(stored)
    updated = moment(row.get("updated_at")) or moment(value.get("updated_at"))
    created = moment(value.get("created_at")) or updated
    tags = value.get("tags")
    fields = {
        "type": row.get("memory_type"),
        "name": unquote(str(row.get("memory_key") or ""), errors="ignore"),
        "content": value["text"],
        "tags": [str(each) for each in tags] if isinstance(tags, list) else [],
    }
    by, source = value.get("created_by"), value.get("source")
    version = version_of(
        vocabularies,
        fields,
        at=updated or created,
        actor=f"openwp:{by}" if by else None,
        source=f"openwp {source}" if source and isinstance(source, str) else "openwp",
    )
    return Past((version,), created)


def _decoded(text: str) -> dict[str, Any]:
    """Return the object that OpenWP stores; any other value is the text itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return value
    return {"text": text}
