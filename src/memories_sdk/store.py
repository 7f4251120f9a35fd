"""MemoryStore: opens a database, knows principals and agents, and hands out scopes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from uuid6 import UUID

from memories_sdk import display
from memories_sdk.approvals import AnyScope, Approvals
from memories_sdk.database import Durability
from memories_sdk.directory import Agents, Principals, not_a_principal
from memories_sdk.doctor import Symptom, examine
from memories_sdk.engines import opened
from memories_sdk.errors import AccessDenied, InvalidInput
from memories_sdk.feed import Feed
from memories_sdk.fields import normal_label
from memories_sdk.history import History
from memories_sdk.hooks import Plugins
from memories_sdk.ids import Uuid7
from memories_sdk.integrity import NOTHING_NOTED, Finding, findings, heads
from memories_sdk.keys import rekey, unlock
from memories_sdk.location import located
from memories_sdk.memory import Vocabulary
from memories_sdk.pages import MAX_PAGE, check_limit, check_since
from memories_sdk.principals import Agent, Principal, chosen
from memories_sdk.quota import Quota
from memories_sdk.scope import Scope
from memories_sdk.search.embedding import MEANING, Embedder, Insight
from memories_sdk.tokens import Tokens
from memories_sdk.visit import Setting
from memories_sdk.watch import PAUSE, Watch

Clock = Callable[[], datetime]


class MemoryStore:
    """A store of memories in one database.

    ```python
    store = MemoryStore("memories.db")
    alice = store.principals.user("alice")
    shelf = store.scope(acting_as=alice)
    ```

    Safe to share between threads, and to open from many processes at once. An idle store holds no
    lock. Close it with `close()` or as a context manager.

    Args:
        location: A path, `":memory:"`, or a URL: `sqlite:///…`, `postgresql://…`, `mariadb://…`,
            `mysql://…`. Left out: `$MEMORIES_URL`, else `memories.db` in the user's data folder.
        key: 32 bytes that seal bodies and summaries, past ones and unsaved ones too. Names, types,
            tags, pictures, sizes, times and who acted stay readable. Without the key the texts
            are lost.
        token: For a store behind a server, whose address `location` then is: what
            `memories token create` printed there. The options after it are the server's to choose.
        durability: `"full"` waits until each commit is on the device; `"process"` is several
            times faster for single saves, survives a crash of the program, and may lose the last
            saves when the power goes.
        timeout: Longest wait for another writer, in seconds, before `StoreBusy`.
        vocabularies: The types that shelves take; no type may stand in two of them. Left out:
            documents, facts, and what plugins register.
        quota: What each principal may keep and write; no limit when left out.
        clock: Where times come from; an aware datetime in UTC. For tests and examples.
        ids: Where ids come from. For tests and examples.
        embedder: A model for meaning, so that search and recall also find what says the same in
            other words, such as `memories_sdk.semantic.MiniLM()`; see `Embedder`. Needs numpy.
        meaning: Share of the meaning in a score, 0 to 1; the rest is that of the words.
        replica: The URL of a server that follows the one of `location`. What `read_only()` returns
            reads from there; everything else goes to `location`, and finds its own writes.

    Raises:
        StoreUnavailable: The place cannot be opened, or its engine is not supported.
        StoreDamaged: The file is no intact database.
        SchemaMismatch: A newer release, or another program, made its tables.
        WrongKey: The store is encrypted with another key, or is not encrypted.
    """

    def __new__(
        cls,
        location: str | os.PathLike[str] | None = None,
        **options: object,
    ) -> Self:
        """Return a store beside its database, or one behind a server where an address is named."""
        del options  # for the constructor
        place = os.environ.get("MEMORIES_URL", "") if location is None else location
        if cls is MemoryStore and str(place).startswith(("https://", "http://")):
            # By name, as an engine is: what stands above the store needs it already.
            remote: type[Self] = import_module("memories_sdk.remote").RemoteStore
            return object.__new__(remote)
        return super().__new__(cls)

    def __init__(
        self,
        location: str | os.PathLike[str] | None = None,
        *,
        token: str | None = None,
        key: bytes | None = None,
        durability: Durability = "full",
        timeout: float = 30.0,
        vocabularies: Sequence[Vocabulary] | None = None,
        quota: Quota | None = None,
        clock: Clock | None = None,
        ids: Callable[[], UUID] | None = None,
        embedder: Embedder | None = None,
        meaning: float = MEANING,
        replica: str | None = None,
    ) -> None:
        _check_options(token, durability, timeout, key, embedder)
        # Refused after the opening, they would leave a file and an open connection behind.
        self.plugins = Plugins()
        types = _distinct(self.plugins.vocabularies(vocabularies))
        insight = None if embedder is None else Insight.of(embedder, meaning)
        self._database = opened(
            located(location), timeout=timeout, durability=durability, replica=replica
        )
        try:
            unlock(self._database, key)
        except BaseException:
            self._database.close()
            raise
        self._setting = Setting(
            self._database,
            clock or _utc_now,
            ids or Uuid7(),
            types,
            self.plugins,
            quota=quota,
            insight=insight,
        )
        self.principals = Principals(self._setting)
        self.agents = Agents(self._setting)
        self.approvals = Approvals(
            self._setting,
            bind=self._bind,
            known=self.principals.known,
            principal=self.principals.get,
        )
        self.tokens = Tokens(self._setting)
        self.plugins.opened(self)

    @property
    def location(self) -> str:
        """The path of the database file, or `":memory:"`."""
        return self._database.location

    @property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """The types that shelves take, in the order in which they are offered."""
        return self._setting.vocabularies

    def scope(
        self,
        *,
        acting_as: Principal,
        principal: Principal | None = None,
        agent: Agent | str | int | None = None,
        vocabularies: Sequence[Vocabulary] | None = None,
        actor: str | None = None,
        source: str | None = None,
    ) -> Scope:
        """Return a shelf, bound to who acts: the only way to memories.

        Args:
            acting_as: The caller, a user.
            principal: As whom the caller acts: itself when left out, or one of its groups.
            agent: For an agent's own shelf: the agent, its id, or its name among the
                principal's; left out for the principal's global shelf.
            vocabularies: A narrower choice of types; all of the store's when left out.
            actor: Who the history names; `user:<name>` of the caller when left out.
            source: Where changes come from, for the history, such as `"run 12"`.

        Raises:
            AccessDenied: The caller may not act as that principal, or is a group.
            NotFound: The agent does not exist or does not belong to the principal.
        """
        return self._bind(
            Scope,
            acting_as=acting_as,
            principal=principal,
            agent=agent,
            vocabularies=vocabularies,
            actor=actor,
            source=source,
        )

    def changes(self, *, acting_as: Principal, since: int = 0, limit: int = MAX_PAGE) -> History:
        """Return what happened on the shelves that the caller may see, oldest first.

        These are the caller's own shelf, those of its groups, and those of the agents of all of
        them. A revision names shelf and memory here, not what it overwrote: `before` is empty.

        Args:
            acting_as: The caller.
            since: The last `seq` seen; 0 for the beginning.
            limit: 1 to 500.

        Raises:
            AccessDenied: The caller is nobody here.
            InvalidInput: The limit is out of range, or `since` is no `seq`.
        """
        check_since(since)
        check_limit(limit)
        return Feed(self._setting, self.principals.known(acting_as), since).look(limit)

    def watch(
        self, *, acting_as: Principal, since: int | None = None, pause: float = PAUSE
    ) -> Watch:
        """Return an endless iterator over those changes as they come, from any process.

        Args:
            acting_as: The caller.
            since: The last `seq` that is known; None for only what comes from now on.
            pause: Seconds between two looks; a change is seen within that time.

        Raises:
            AccessDenied: The caller is nobody here.
        """
        caller = self.principals.known(acting_as)
        if since is not None:
            check_since(since)
        feed = Feed(self._setting, caller, since)
        bell = partial(self._database.tell, None)
        changes = partial(feed.look, MAX_PAGE)
        return Watch(lambda _: changes(), since or 0, pause, bell, lambda: feed.waits)

    def verify(self, *, heads: Mapping[str, str] = NOTHING_NOTED) -> list[Finding]:
        """Return what in the file is not as it was written; an empty list proves it intact.

        Reads everything once: the engine's own check, the digest of each body, and the chain of
        revisions of each shelf.

        Args:
            heads: What `heads()` gave once, kept outside the file. Without it nobody can tell
                that the newest revisions of a shelf were cut off with the memories they led to.
        """
        with self._database.read(snapshot=True) as connection:
            return findings(connection, self._database.cipher, heads)

    def heads(self) -> dict[str, str]:
        """Return the seal of the last revision of each shelf, by its key: 64 hex digits.

        It stands for all that ever happened there. Write it down elsewhere, and `verify(heads=…)`
        proves later that the history of then is still whole.
        """
        with self._database.read() as connection:
            return heads(connection)

    def doctor(self, *, repair: bool = False) -> list[Symptom]:
        """Look the store over and return what it has, grave things first.

        Beside what `verify` proves: rows that belong to nothing, a search index that does not fit,
        a missing index, a file that others can open, a network file system, a SQLite with a known
        defect, and what dead programs and migrations left beside the file.

        Args:
            repair: Whether to mend what can be mended without losing anything: each symptom says
                in `repaired` whether it was.
        """
        return examine(self._database, repair=repair)

    def rekey(self, key: bytes) -> None:
        """Encrypt the store with this key from now on: all its texts, or nothing.

        Copies made before keep what they had. Close the store everywhere else first: a program
        that has it open is refused from then on, but one that knew no key would write plainly.

        Args:
            key: 32 bytes; see the class.

        Raises:
            InvalidInput: The key is not 32 bytes.
            StoreDamaged: Something is not as it was written.
        """
        if self._setting.insight is not None:
            raise InvalidInput(
                "An encrypted store takes no embedder.",
                field="key",
                suggestion="Open it without one first: texts can be guessed from vectors.",
            )
        rekey(self._database, key)

    def enable_rls(self) -> None:
        """Put a second wall around each shelf: row-level security, on PostgreSQL.

        From then on, the engine itself shows a transaction the rows of those shelves alone that
        its statements name, to the owner of the tables too; a statement that forgets to name one
        finds nothing. Done by the owner of the tables, once; other programs that have the store
        open must open it again. A superuser, or a role with BYPASSRLS, walks around the wall.

        Raises:
            InvalidInput: The store is on another engine.
        """
        self._database.wall()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the store to a new file, of one moment, while others go on writing.

        Raises:
            InvalidInput: The file exists, or the log of one that had its name.
        """
        target = Path(path)
        if not target.name or "\0" in target.name:
            raise InvalidInput(
                "path must be that of a file.", field="path", suggestion='For example "copy.db".'
            )
        # The log of a file that is gone would be taken for that of the new one.
        for each in (target, *(Path(f"{target}{ending}") for ending in ("-wal", "-journal"))):
            if os.path.lexists(each):
                raise InvalidInput(
                    f"{each} exists.", field="path", suggestion="Name a file that does not."
                )
        self._database.copy(target)

    def close(self) -> None:
        """Close the store; its scopes answer `StoreClosed` from then on."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a store holds connections: open another one with MemoryStore(…)")

    def __repr__(self) -> str:
        return f"<MemoryStore {Path(self.location).name}>"

    def _repr_html_(self) -> str:
        return display.store(self)

    def _bind(
        self,
        kind: type[AnyScope],
        *,
        acting_as: Principal,
        principal: Principal | None,
        agent: Agent | str | int | None,
        vocabularies: Sequence[Vocabulary] | None,
        actor: str | None,
        source: str | None,
    ) -> AnyScope:
        """Return a shelf of some kind; see `scope`."""
        caller = self.principals.known(acting_as)
        if caller.kind != "user":
            raise AccessDenied(
                f"{caller} never acts by itself.",
                suggestion="Name a member as acting_as and the group as principal.",
            )
        owner = caller if principal is None else self._visible(caller, principal)
        setting = self._setting
        if vocabularies is not None:
            setting = replace(setting, vocabularies=_distinct(vocabularies), narrowed=True)
        return kind(
            setting,
            caller=caller,
            principal=owner,
            agent=None if agent is None else self.agents.get(agent, owner=owner),
            actor=str(caller) if actor is None else normal_label(actor, "actor"),
            source=None if source is None else normal_label(source, "source"),
        )

    def _visible(self, caller: Principal, principal: Principal) -> Principal:
        if not isinstance(principal, Principal):
            raise not_a_principal("principal", principal)
        return chosen(self.principals.visible_to(caller), principal.id)


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _check_options(
    token: str | None,
    durability: str,
    timeout: float,
    key: bytes | None,
    embedder: Embedder | None,
) -> None:
    if token is not None:
        raise InvalidInput(
            "token is for a store behind a server.",
            field="token",
            suggestion='For example MemoryStore("https://memories.example", token=…).',
        )
    if durability not in ("full", "process"):
        raise InvalidInput(
            f"durability must be 'full' or 'process', not {durability!r}.",
            field="durability",
            suggestion="Leave it out for the safe choice.",
        )
    if type(timeout) not in {int, float} or not 0 <= timeout < float("inf"):
        raise InvalidInput(
            "timeout must be a number of seconds, 0 or more.",
            field="timeout",
            suggestion="Leave it out for 30 seconds.",
        )
    if key is not None and embedder is not None:
        raise InvalidInput(
            "An encrypted store takes no embedder.",
            field="embedder",
            suggestion="Vectors lie beside the texts, which can be guessed from them.",
        )


def _distinct(vocabularies: Sequence[Vocabulary]) -> tuple[Vocabulary, ...]:
    types = [each for vocabulary in vocabularies for each in vocabulary.types]
    if len(set(types)) != len(types) or not types:
        raise InvalidInput(
            "vocabularies must hold at least one type, and no type twice.",
            field="vocabularies",
            suggestion="For example vocabularies=(DOCUMENTS, FACTS).",
        )
    return tuple(vocabularies)
