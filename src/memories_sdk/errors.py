"""Every error this package raises, on one page.

    MemoriesError
    ├── InvalidInput (ValueError)       the call cannot be carried out as written
    │   ├── UnknownType                 the type is in no vocabulary of this scope
    │   ├── TooLong                     a text passes its limit
    │   ├── AnchorNotFound              `find` stands nowhere in the body
    │   ├── AnchorNotUnique             `find` stands at several places
    │   ├── KeyReused                   the key of this write was used for another one
    │   └── WriteRefused                a guard found something that must not be stored
    ├── NotFound (LookupError)          not there, or not yours: both look the same
    ├── AccessDenied (PermissionError)  the caller may not act as that principal
    ├── Conflict                        the stored state does not allow it any more
    │   ├── EditConflict                the version the caller saw is not the current one
    │   ├── NameTaken                   another memory, or agent, has that name
    │   ├── MemoryOff                   memory is switched off on this shelf
    │   └── QuotaExceeded               the principal has, or writes, as much as it may
    ├── StorageError                    the database could not do it; nothing was written
    │   ├── StoreBusy (TimeoutError)    another writer held the lock for the whole wait
    │   ├── StoreInterrupted            the server rolled the call back, or went away in it
    │   ├── StorageFull                 no room on the device
    │   ├── StoreReadOnly               the file or its directory cannot be written
    │   ├── StoreDamaged                the file is not a database, or is corrupt
    │   ├── StoreUnavailable            the file cannot be opened or read
    │   ├── WrongKey                    the store is encrypted, and not with this key
    │   ├── SchemaMismatch              the tables are newer than, or foreign to, this release
    │   └── StoreClosed                 the store was closed
    ├── MissingExtra (ImportError)      an optional part is not installed
    └── PluginFailed                    a plugin cannot be loaded, or failed at a start

Each class has a stable `code` for machines; each error has a message and, where one is known, a
suggestion. Doors translate the code: tool text, HTTP status, a line in the panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memories_sdk.guards import Concern
    from memories_sdk.memory import Memory
    from memories_sdk.merge import Merge


class MemoriesError(Exception):
    """Root of the tree: catch it to catch everything this package raises.

    Attributes:
        code: Stable name of the kind of error, for programs.
        retryable: Whether the same call may succeed later without a change.
        message: What went wrong, one sentence.
        suggestion: What to do about it, or an empty text.
    """

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, suggestion: str = "") -> None:
        self.message = message
        self.suggestion = suggestion
        super().__init__(f"{message} {suggestion}" if suggestion else message)

    def __reduce__(self) -> tuple[object, ...]:
        # Exception would call the class with the finished text, which is no argument of most.
        return _rebuilt, (type(self), self.args), vars(self)


class InvalidInput(MemoriesError, ValueError):
    """The call cannot be carried out as written; nothing was changed.

    Attributes:
        field: The argument at fault, or None when it is the call as a whole.
    """

    code = "invalid"

    def __init__(self, message: str, *, field: str | None = None, suggestion: str = "") -> None:
        super().__init__(message, suggestion=suggestion)
        self.field = field


class UnknownType(InvalidInput):
    """The type is in no vocabulary of this scope.

    Attributes:
        value: What was given, as text.
        allowed: The types that there are.
    """

    code = "unknown_type"

    def __init__(self, value: object, allowed: Sequence[str]) -> None:
        self.value = str(value)
        super().__init__(
            f"type {self.value!r} is not one of: {', '.join(allowed)}",
            field="type",
            suggestion="Types are exact: lower case, no blanks around them.",
        )
        self.allowed = tuple(allowed)


class TooLong(InvalidInput):
    """A text passes its limit.

    Attributes:
        size: What was given, in `unit`.
        limit: The most that is allowed, in `unit`.
        unit: "characters" or "bytes" (of UTF-8).
    """

    code = "too_long"

    def __init__(self, field: str, *, size: int, limit: int, unit: str, suggestion: str) -> None:
        super().__init__(
            f"{field} has {size:,} {unit}; the limit is {limit:,} ({size - limit:,} too many).",
            field=field,
            suggestion=suggestion,
        )
        self.size = size
        self.limit = limit
        self.unit = unit


class AnchorNotFound(InvalidInput):
    """`find` stands nowhere in the body.

    Attributes:
        edit: Index of the edit at fault in the list of edits; 0 for a single one.
    """

    code = "anchor_not_found"

    def __init__(self, *, edit: int = 0, suggestion: str = "") -> None:
        super().__init__("find matches 0 occurrences.", field="find", suggestion=suggestion)
        self.edit = edit


class AnchorNotUnique(InvalidInput):
    """`find` stands at several places; overlapping places count.

    Attributes:
        count: How many places.
        positions: (line, column) of the first places, from 1, in the order of the text.
        edit: Index of the edit at fault in the list of edits; 0 for a single one.
    """

    code = "anchor_not_unique"

    def __init__(self, count: int, positions: Sequence[tuple[int, int]], *, edit: int = 0) -> None:
        where = ", ".join(f"{line}:{column}" for line, column in positions)
        more = ", …" if count > len(positions) else ""
        super().__init__(
            f"find matches {count} > 1 occurrences; provide a unique substring.",
            field="find",
            suggestion=f"It stands at line:column {where}{more}. Add a neighbouring word or line.",
        )
        self.count = count
        self.positions = tuple(positions)
        self.edit = edit


class WriteRefused(InvalidInput):
    """A guard found something that must not be stored.

    Attributes:
        concerns: What it found, and in which fields; never the whole of it.
    """

    code = "write_refused"

    def __init__(self, concerns: Sequence[Concern]) -> None:
        found = "; ".join(map(str, concerns))
        super().__init__(
            f"Not stored: {found}.",
            field=concerns[0].field,
            suggestion="Leave it out and say where it is kept instead.",
        )
        self.concerns = tuple(concerns)


class KeyReused(InvalidInput):
    """The key that makes a write happen once was used for another write.

    Attributes:
        key: The key.
    """

    code = "key_reused"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The key {key!r} was used for another call; nothing was written.",
            field="key",
            suggestion="Take a new key for each write, and the same one only to repeat it.",
        )
        self.key = key


class NotFound(MemoriesError, LookupError):
    """Not there, or not yours: an unknown and a forbidden thing look the same."""

    code = "not_found"


class AccessDenied(MemoriesError, PermissionError):
    """The caller may not act as that principal, or lacks the role for it."""

    code = "access_denied"


class Conflict(MemoriesError):
    """The stored state does not allow the call any more."""

    code = "conflict"


class EditConflict(Conflict):
    """Somebody changed the memory since the caller read it.

    Attributes:
        expected_version: The version the caller saw; 0 when it saw none, or several memories.
        current: The memory as it is now, or None when it was deleted.
        difference: What you saw, what you made of it and what is there now, side by side; None
            when the change was not one of the body, or the version you saw is not in the history.
    """

    code = "edit_conflict"

    def __init__(
        self, expected_version: int, current: Memory | None, difference: Merge | None = None
    ) -> None:
        now = "it was deleted" if current is None else f"it is at version {current.version}"
        seen = f"version {expected_version}" if expected_version else "none"
        super().__init__(
            f"The memory changed: you saw {seen}, {now}."
            if expected_version or current
            else "The shelf changed: what would go is not what you saw.",
            suggestion="Read it again, bring your change into the new text, and save that.",
        )
        self.expected_version = expected_version
        self.current = current
        self.difference = difference


class NameTaken(Conflict):
    """Another memory of that type, or another agent of that owner, has the name already."""

    code = "name_taken"


class MemoryOff(Conflict):
    """Memory is switched off on this shelf: it can be read, and nothing can be written."""

    code = "memory_disabled"

    def __init__(self) -> None:
        super().__init__(
            "Memory is switched off here; nothing was written.",
            suggestion="Reading still works. scope.switch(on=True) switches it on.",
        )


class QuotaExceeded(Conflict):
    """The principal has, or writes, as much as it may; nothing of the call was written.

    Attributes:
        quota: "memories", "bytes" or "writes per minute".
        limit: The most that is allowed.
    """

    code = "quota_exceeded"

    def __init__(self, quota: str, *, limit: int, suggestion: str) -> None:
        super().__init__(
            f"The quota of {limit:,} {quota} is used up; nothing was written.",
            suggestion=suggestion,
        )
        self.quota = quota
        self.limit = limit


class StorageError(MemoriesError):
    """The database could not do it; nothing of the call was written."""

    code = "storage"


class StoreBusy(StorageError, TimeoutError):
    """Another writer held the lock for the whole bounded wait."""

    code = "busy"
    retryable = True

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The store is busy: another writer held it for {seconds:g} s. Nothing was written.",
            suggestion="Try again, or open the store with a longer timeout=.",
        )


class StoreInterrupted(StorageError):
    """A server rolled the call back for another's sake, or the connection to it was lost.

    Attributes:
        unknown: Whether the write may have been stored all the same: the connection was lost
            while the commit was on its way.
    """

    code = "interrupted"
    retryable = True

    def __init__(self, *, unknown: bool) -> None:
        what = "it is not known whether the write was stored" if unknown else "nothing was written"
        super().__init__(
            f"The database interrupted the call; {what}.",
            suggestion="Read it again to see what is there." if unknown else "Try again.",
        )
        self.unknown = unknown


class StorageFull(StorageError):
    """No room on the device."""

    code = "storage_full"


class StoreReadOnly(StorageError):
    """The database file or its directory cannot be written."""

    code = "read_only"


class StoreDamaged(StorageError):
    """The file is not a database, or its content is corrupt."""

    code = "damaged"


class StoreUnavailable(StorageError):
    """The database file cannot be opened or read."""

    code = "unavailable"


class WrongKey(StorageError):
    """The store is encrypted with another key, or with one where none was given, or not at all."""

    code = "wrong_key"


class SchemaMismatch(StorageError):
    """The tables in the file were made by a newer release, or by another program."""

    code = "schema_mismatch"


class StoreClosed(StorageError):
    """The store was closed; its scopes cannot be used any more."""

    code = "closed"

    def __init__(self) -> None:
        super().__init__("This store is closed.", suggestion="Open it again with MemoryStore(…).")


class MissingExtra(MemoriesError, ImportError):
    """An optional part of the package is not installed."""

    code = "missing_extra"

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs packages that are not installed.",
            suggestion=f'Install them with: pip install "memories-sdk[{extra}]"',
        )
        self.extra = extra


class OldPagesRemain(UserWarning):
    """A text was blotted out, but the log beside the file may hold it until it is emptied.

    Another program was reading, or the device refused. Nothing has to be undone: the store itself
    does not know the text any more.
    """


class HistoryShortened(UserWarning):
    """An export holds a memory with its newest versions alone: all of them would fill 256 MiB."""


class PluginFailed(MemoriesError):
    """A plugin cannot be loaded, or failed while a store or a server was starting.

    Attributes:
        plugin: Its name, that of its entry point when a package brings it.
    """

    code = "plugin_failed"

    def __init__(self, plugin: str, what: str) -> None:
        super().__init__(
            f"The plugin {plugin!r} {what}.",
            suggestion="Mend it, or uninstall the package that brings it.",
        )
        self.plugin = plugin


def _rebuilt(kind: type[MemoriesError], args: tuple[object, ...]) -> MemoriesError:
    """Return an error as pickle found it, so that it can cross to another process."""
    error = kind.__new__(kind)
    error.args = args
    return error
