"""ScopeReader: the reading half of a shelf, bound to who acts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from typing import Final, NamedTuple

from uuid6 import UUID

from memories_sdk import display
from memories_sdk.bound import Bound, parsed_id
from memories_sdk.database import Connection
from memories_sdk.errors import InvalidInput
from memories_sdk.facts import folded
from memories_sdk.fields import checked_type, normal_tags
from memories_sdk.guards import Concern
from memories_sdk.history import History, Revision
from memories_sdk.hooks import Write
from memories_sdk.memory import Memory, Page
from memories_sdk.pages import (
    MAX_PAGE,
    Bodies,
    Recent,
    check_limit,
    check_since,
    check_skip,
    cursor_behind,
    place_of,
    seq_of,
)
from memories_sdk.rows import from_time
from memories_sdk.search.filtering import Filter
from memories_sdk.search.hits import Hits
from memories_sdk.search.hits import place as hit_place
from memories_sdk.search.ranking import Query
from memories_sdk.search.recall import Recall
from memories_sdk.search.searcher import Searcher, Sight, searcher
from memories_sdk.shelf import Shelf
from memories_sdk.watch import PAUSE, Watch

MAX_CHARS: Final = 1_000_000
MIN_RELEVANCE: Final = 0.2


class _Search(NamedTuple):
    """A search while it runs: all of one moment."""

    searcher: Searcher
    connection: Connection
    shelf: Shelf
    sight: Sight


class ScopeReader(Bound):
    """The reading half of a shelf. Made by `store.scope(…)` and `Scope.read_only()`.

    Attributes:
        caller: Who acts.
        principal: As whom: the caller itself or one of its groups.
        agent: Whose own shelf it is, or None for the principal's global shelf.
        kind: `"agent"` for an agent's own shelf, else `"global"`.
        key: `global:<principal>` or `agent:<agent>`.
    """

    @property
    def enabled(self) -> bool:
        """Whether memory is switched on here. Off, every write raises `MemoryOff`."""
        with self._reading() as shelf:
            return shelf.enabled

    def _repr_html_(self) -> str:
        return display.scope(self)

    def list(self, *, type: str | None = None, limit: int = 50, cursor: str | None = None) -> Page:
        """Return one page of heads, by order, then name (by code point), then id.

        Bodies are not read. Following the cursors gives each memory once, also when others are
        added meanwhile; one that is moved meanwhile may be met twice or not at all.

        Args:
            type: Only this type; None for all.
            limit: 1 to 500.
            cursor: `next_cursor` of the page before.

        Raises:
            UnknownType: The type is not one of this shelf's.
            InvalidInput: The limit is out of range, or the cursor is not one of ours.
        """
        types = self._types(type)
        check_limit(limit)
        after = None if cursor is None else place_of(cursor)
        with self._reading() as shelf:
            heads = shelf.heads(types, limit + 1, after)
            if cursor is None and len(heads) <= limit:
                return Page(heads, total=len(heads))
            total = shelf.total(types)
        more = len(heads) > limit
        heads = heads[:limit]
        return Page(heads, total=total, next_cursor=cursor_behind(heads[-1]) if more else None)

    def read(
        self, *, type: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Bodies:
        """Return one page as `list` does, of memories with their bodies."""
        types = self._types(type)
        check_limit(limit)
        after = None if cursor is None else place_of(cursor)
        with self._reading() as shelf:
            memories = shelf.page(types, limit + 1, after)
            if cursor is None and len(memories) <= limit:
                return Bodies(tuple(memories), len(memories), None)
            total = shelf.total(types)
        more = len(memories) > limit
        memories = memories[:limit]
        return Bodies(tuple(memories), total, cursor_behind(memories[-1]) if more else None)

    def counts(self) -> dict[str, int]:
        """Return how many memories there are of each type, in the order of the vocabularies."""
        types = self._types(None)
        with self._reading() as shelf:
            found = shelf.counts(types)
        return {each: found.get(each, 0) for each in types}

    def recent(
        self, *, type: str | None = None, containing: str = "", limit: int = 50, skip: int = 0
    ) -> Recent:
        """Return memories with their bodies, last changed first; moving is no change.

        Args:
            type: Only this type; None for all.
            containing: Only those in whose name, body or a tag it stands, capital or small; no
                character of it is special.
            limit: 1 to 500.
            skip: How many to pass over, for the pages after the first.

        Raises:
            UnknownType: The type is not one of this shelf's.
            InvalidInput: The limit is out of range, or `skip` is negative.
        """
        types = self._types(type)
        check_limit(limit)
        check_skip(skip)
        wanted = folded(_checked_text(containing, "containing"))
        with self._reading() as shelf:
            if not wanted:
                return Recent(tuple(shelf.recent(types, limit, skip)), shelf.total(types))
            memories = shelf.recent(types, -1, 0)
        found = tuple(each for each in memories if _mentions(each, wanted))
        return Recent(found[skip : skip + limit], len(found))

    def get(self, name: str, type: str) -> Memory:
        """Return a memory with its body.

        Raises:
            NotFound: There is none of that name and type here.
        """
        name = self._name(name, type)
        with self._reading() as shelf:
            return self._there(shelf, name, type).memory

    def get_by_id(self, id: UUID | str) -> Memory:
        """Return a memory with its body.

        Raises:
            NotFound: It is not on this shelf; a foreign one looks like an unknown one.
        """
        with self._reading() as shelf:
            return self._with_id(shelf, id).memory

    def history(
        self,
        name: str | None = None,
        type: str | None = None,
        *,
        id: UUID | str | None = None,
        ids: Sequence[UUID | str] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> History:
        """Return revisions of one memory, of several, or of the whole shelf, newest first.

        Args:
            name: With `type`, the memory that has the name now, else the one that had it last;
                leave out all that names a memory for the whole shelf.
            type: See `name`.
            id: The memory, deleted or not.
            ids: Several memories, at most 500, whose revisions are wanted in one go.
            limit: 1 to 500.
            cursor: `next_cursor` of the page before.

        Raises:
            NotFound: No memory of that name and type was ever here.
        """
        check_limit(limit)
        before = None if cursor is None else seq_of(cursor)
        memory_ids = _named_ids(id, ids)
        if memory_ids is None and name is None and type is not None:
            raise InvalidInput(
                "history needs a name beside a type.",
                field="name",
                suggestion="Leave both out for the whole shelf.",
            )
        if memory_ids is None and name is not None:
            name = self._name(name, type or "")
        with self._reading() as shelf:
            if memory_ids is None and name is not None:
                memory_ids = [self._had_name(shelf, name, type or "")]
            if memory_ids is None:
                found = shelf.history(None, limit + 1, before)
            else:
                found = shelf.histories(memory_ids, limit + 1, before)
        more = len(found) > limit
        found = found[:limit]
        last = str(found[-1].seq) if more else None
        return History(self._shown(found), next_cursor=last)

    def deleted(self, *, limit: int = 50) -> History:
        """Return the last revision of each memory that is gone, newest first: see `restore`."""
        check_limit(limit)
        with self._reading() as shelf:
            return History(self._shown(shelf.deleted(limit)))

    def search(
        self,
        query: str,
        *,
        type: str | None = None,
        tags: Sequence[str] = (),
        limit: int = 20,
        cursor: str | None = None,
    ) -> Hits:
        """Return one page of the memories that match a text, the best first.

        All text is looked for as words; nothing in it is syntax. Names, tags and headings weigh
        more than the rest, and all of a body counts. A memory matches when it shares a word, in
        any English ending; on a shelf of up to 512 memories, also when it shares a part of a word.

        Args:
            query: Any text; an empty one finds nothing.
            type: Only this type; None for all.
            tags: Only memories with all of these.
            limit: 1 to 500.
            cursor: `next_cursor` of the page before.

        Raises:
            UnknownType: The type is not one of this shelf's.
            InvalidInput: The limit is out of range, or the cursor is not one of ours.
        """
        check_limit(limit)
        after = None if cursor is None else hit_place(cursor)
        wanted = self._filter(type, tags)
        with self._searching() as found:
            return found.searcher.hits(
                found.connection,
                self.key,
                found.sight,
                Query.of(_checked_text(query, "query"), only_joining=True),
                wanted,
                limit=limit,
                after=after,
            )

    def relevant_for_prompt(
        self,
        prompt: str,
        limit: int = 8,
        max_chars: int = 1200,
        *,
        type: str | None = None,
        tags: Sequence[str] = (),
        min_relevance: float = MIN_RELEVANCE,
        max_chars_each: int | None = None,
    ) -> Recall:
        """Return the memories to put before an agent with this prompt.

        Pinned ones come first, in the user's order, whether they match or not; then the rest by
        how well they answer. The same shelf and prompt give the same characters. A shelf that is
        switched off gives nothing.

        Args:
            prompt: What the agent is asked. One without words finds the pinned ones only.
            limit: Most memories, 0 to 500.
            max_chars: Most characters of `as_context()`, frame and escapes included. What does
                not fit is shortened to its best passages, or skipped.
            type: Only this type; None for all.
            tags: Only memories with all of these.
            min_relevance: How near to the best score one must come, 0 to 1; the better the best
                one answers, the nearer. More is more precise.
            max_chars_each: Most characters of one memory's text; None for what there is room for.

        Raises:
            InvalidInput: A number is out of range.
        """
        _check_budget(limit, max_chars, max_chars_each)
        _check_number(min_relevance, "min_relevance", 0, 1)
        wanted = self._filter(type, tags)
        with self._searching() as found:
            if not found.shelf.enabled:
                return Recall((), "", ())
            return found.searcher.recall(
                found.connection,
                self.key,
                found.sight,
                Query.of(_checked_text(prompt, "prompt")),
                wanted,
                limit=limit,
                max_chars=max_chars,
                max_chars_each=max_chars_each,
                min_relevance=min_relevance,
            )

    def changes(self, *, since: int = 0, limit: int = MAX_PAGE) -> History:
        """Return revisions of this shelf with a `seq` above `since`, oldest first.

        Pass the last `seq` seen to go on. An empty answer means that nothing changed.

        Raises:
            InvalidInput: The limit is out of range, or `since` is no `seq`.
        """
        check_limit(limit)
        check_since(since)
        with self._reading() as shelf:
            return History(self._shown(shelf.changes(since, limit)))

    def watch(self, *, since: int | None = None, pause: float = PAUSE) -> Watch:
        """Return an endless iterator over the changes of this shelf, from any process.

        Args:
            since: The last `seq` that is known; None for only what comes from now on.
            pause: Seconds between two looks; a change is seen within that time.
        """
        if since is None:
            last = self.history(limit=1)
            since = last[0].seq if last else 0
        return Watch(lambda seq: self.changes(since=seq), since, pause, self._tell)

    def _tell(self, event: Event) -> bool:
        return self._setting.database.tell(self.key, event)

    def inspect(
        self,
        type: str,
        *,
        name: str = "",
        content: str = "",
        summary: str = "",
        tags: Sequence[str] = (),
    ) -> Sequence[Concern]:
        """Return what the guards find in these texts, without writing anything.

        A write of a fact is refused for it. A document is stored all the same, and this tells
        what it holds.

        Raises:
            UnknownType: The type is not one of this shelf's.
            WriteRefused: A guard failed.
        """
        vocabulary = checked_type(type, self.vocabularies)
        texts = {"name": name, "content": content, "summary": summary, "tags": "\n".join(tags)}
        with self._reading():
            pass  # whoever may not read the shelf asks its guards nothing either
        write = Write(self.key, self._actor, type, texts)
        found = self._setting.plugins.concerns(write)
        return [each for each in found if each.certain or vocabulary.guarded]

    @contextmanager
    def _searching(self) -> Iterator[_Search]:
        database = self._setting.database
        found = searcher(database, self._setting.insight)
        with database.read(shelf=self.key, snapshot=True) as connection:
            # Whoever may not read the shelf shall not make its index either.
            shelf = self._shelf(connection)
            sight = found.ready(connection, self.key)
            if sight is not None or not shelf.enabled:
                yield _Search(found, connection, shelf, sight or Sight(0))
                return
        found.prepare(self.key)
        with database.read(shelf=self.key, snapshot=True) as connection:
            shelf = self._shelf(connection)
            yield _Search(found, connection, shelf, found.sight(connection, self.key))

    def _kept_as(self, tag: str) -> Iterator[str]:
        """Yield the spellings in which the vocabularies keep a tag."""
        for vocabulary in self.vocabularies:
            yield from normal_tags([tag], vocabulary)

    def _filter(self, type: str | None, tags: Sequence[str]) -> Filter:
        return Filter(
            frozenset(self._types(type)),
            tuple(frozenset((tag, *self._kept_as(tag))) for tag in normal_tags(tags)),
            from_time(self._setting.now()),
        )

    def _shown(self, revisions: Sequence[Revision]) -> Iterator[Revision]:
        """Yield what a scope of these types may see; a reorder names ids alone."""
        types = self._types(None)
        return (each for each in revisions if each.type is None or each.type in types)

    def _had_name(self, shelf: Shelf, name: str, type: str) -> UUID:
        if (stored := shelf.find(name, type)) is not None:
            return stored.memory.id
        if (id := shelf.last_named(name, type)) is None:
            raise self._missing(name, type)
        return id


def _named_ids(id: UUID | str | None, ids: Sequence[UUID | str] | None) -> Sequence[UUID] | None:
    """Return the memories that are named by id, or None when all are meant."""
    if ids is None:
        return None if id is None else [parsed_id(id)]
    if isinstance(ids, str) or len(ids) > MAX_PAGE:
        raise InvalidInput(
            f"ids must be a list of at most {MAX_PAGE}.",
            field="ids",
            suggestion="Ask for some at a time.",
        )
    return [parsed_id(each) for each in ids]


def _mentions(memory: Memory, wanted: str) -> bool:
    return any(wanted in folded(text) for text in (memory.name, memory.content, *memory.tags))


def _checked_text(value: str, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be text.", field=field, suggestion="Pass a str.")
    return value


def _check_number(value: float, field: str, least: int, most: int) -> None:
    """Refuse what is no number from `least` to `most`.

    Raises:
        InvalidInput: It is none.
    """
    if type(value) not in {int, float} or not least <= value <= most:
        raise InvalidInput(
            f"{field} must lie between {least} and {most:,}.",
            field=field,
            suggestion="Leave it out for the default.",
        )


def _check_budget(limit: int, chars: int, each: int | None) -> None:
    _check_whole(limit, "limit", 0, MAX_PAGE)
    _check_whole(chars, "max_chars", 0, MAX_CHARS)
    if each is not None:
        _check_whole(each, "max_chars_each", 1, MAX_CHARS)


def _check_whole(value: int, field: str, least: int, most: int) -> None:
    """Refuse what is no whole number from `least` to `most`.

    Raises:
        InvalidInput: It is none.
    """
    _check_number(value, field, least, most)
    if type(value) is not int:
        raise InvalidInput(
            f"{field} must be a whole number.",
            field=field,
            suggestion="Leave it out for the default.",
        )
