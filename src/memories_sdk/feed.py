"""The changes of all shelves that a caller may see: who did what to which memory, no texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice, takewhile
from operator import attrgetter

from memories_sdk.database import Connection
from memories_sdk.history import History, Revision
from memories_sdk.principals import Principal, scope_key
from memories_sdk.rows import to_revision
from memories_sdk.statements import people
from memories_sdk.statements import revisions as sql
from memories_sdk.visit import Setting

_seq = attrgetter("seq")


class Feed:
    """Follows the shelves of a caller.

    On a server, writers of different shelves may commit in another order than their numbers rise.
    So nothing is told that stands above a change which may still be on its way.

    Args:
        setting: Of the store.
        caller: Who asks. Shelves that it gains or loses come and go with the next look.
        since: The last `seq` that is known; None for only what comes from now on.

    Attributes:
        waits: Whether the last look kept something back.
    """

    def __init__(self, setting: Setting, caller: Principal, since: int | None) -> None:
        self._database = setting.database
        self._caller = caller
        self._seen: dict[str, int] = {}
        self._newest = -1
        self.waits = False
        self._since = self._now() if since is None else since

    def look(self, limit: int) -> History:
        """Return what came since the last look, oldest first."""
        newest, shelves = self._watched()
        if newest == self._newest:
            return History(())
        written = self._database.written(shelves)
        with self._database.read(snapshot=True) as connection:
            settled = _settled(connection, newest, written)
            pages = [self._page(connection, key, limit) for key in shelves]
        found = takewhile(lambda change: change.seq <= settled, merge(*pages, key=_seq))
        changes = History(islice(found, limit))
        for change in changes:
            self._seen[change.shelf] = change.seq
        self.waits = settled < newest
        if len(changes) < limit and not self.waits:
            self._newest = newest
        return changes

    def _now(self) -> int:
        """Begin on each shelf behind its last change; return the number for those gained later."""
        newest, shelves = self._watched()
        with self._database.read(snapshot=True) as connection:
            self._seen = {key: _last(connection, key) for key in shelves}
        return newest

    def _watched(self) -> tuple[int, list[str]]:
        """Return the newest number of all, and the shelves on which something may be new."""
        with self._database.read() as connection:
            newest = connection.execute(sql.NEWEST).fetchone()[0] or 0
            return newest, [] if newest == self._newest else list(self._shelves(connection))

    def _page(self, connection: Connection, key: str, limit: int) -> list[Revision]:
        since = self._seen.get(key, self._since)
        place: dict[str, object] = {"scope_key": key, "since": since, "limit": limit}
        rows = connection.execute(sql.NOTICES, place).fetchall()
        return [to_revision(row, None) for row in rows]  # a notice holds no text to be opened

    def _shelves(self, connection: Connection) -> Iterator[str]:
        groups = connection.execute(people.VISIBLE_GROUPS, {"user_id": self._caller.id}).fetchall()
        for id in (self._caller.id, *_ids(groups)):
            yield scope_key(principal_id=id)
            agents = connection.execute(people.AGENTS_OF, {"principal_id": id}).fetchall()
            yield from (scope_key(agent_id=agent) for agent in _ids(agents))


def _settled(connection: Connection, newest: int, written: Iterable[str]) -> int:
    """Return the number up to which no change is missing any more.

    Read in this order, or one would be missed: the newest number of all; which shelves are
    written; and, in a state of later than both, the newest number of each of those. Who was seen
    writing gives higher numbers than that, and who began later gives higher ones than the newest.
    """
    return min([newest, *(_last(connection, key) for key in written)])


def _last(connection: Connection, key: str) -> int:
    return connection.execute(sql.NEWEST_OF_SHELF, {"scope_key": key}).fetchone()[0] or 0


def _ids(rows: Iterable[tuple[int, ...]]) -> Iterator[int]:
    return (row[0] for row in rows)
