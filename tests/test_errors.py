"""The errors of the package: one tree, a code for each, and words that help."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from datetime import UTC, datetime

import pytest
from uuid6 import uuid7

from memories_sdk import MemoriesError, Memory, errors, tools
from memories_sdk.guards import Concern

TREE = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, MemoriesError)
}
MEMORY = Memory(
    id=uuid7(),
    scope="global",
    principal_id=1,
    agent_id=None,
    type="plan",
    name="n",
    summary=None,
    summary_derived=True,
    tags=(),
    pinned=False,
    order=1,
    version=4,
    size=1,
    expires_at=None,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    updated_at=datetime(2026, 1, 1, tzinfo=UTC),
    untrusted=False,
    content="x",
)
PARTICULAR: dict[str, MemoriesError] = {
    "UnknownType": errors.UnknownType("note", ("plan", "context")),
    "TooLong": errors.TooLong("name", size=3, limit=2, unit="characters", suggestion="Cut it."),
    "AnchorNotFound": errors.AnchorNotFound(edit=1, suggestion="Look again."),
    "AnchorNotUnique": errors.AnchorNotUnique(12, [(1, 1), (2, 5)], edit=2),
    "WriteRefused": errors.WriteRefused([Concern("an access key", "content", "ghp_…")]),
    "KeyReused": errors.KeyReused("call 7"),
    "EditConflict": errors.EditConflict(3, MEMORY),
    "MemoryOff": errors.MemoryOff(),
    "QuotaExceeded": errors.QuotaExceeded("memories", limit=10, suggestion="Delete some."),
    "StoreBusy": errors.StoreBusy(1.5),
    "StoreInterrupted": errors.StoreInterrupted(unknown=True),
    "StoreClosed": errors.StoreClosed(),
    "MissingExtra": errors.MissingExtra("A thing", "things"),
    "PluginFailed": errors.PluginFailed("things", "cannot be loaded: no module"),
}
EXAMPLES = {
    name: PARTICULAR.get(name) or kind("It went wrong.", suggestion="Try again.")
    for name, kind in TREE.items()
}

each_error = pytest.mark.parametrize("name", TREE)


def drawn() -> dict[str, tuple[str | None, str | None]]:
    """Return the tree drawn in the module's docstring: name to parent and builtin parent."""
    found: dict[str, tuple[str | None, str | None]] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"    ((?:│   |    |[├└]── )*)(\w+)(?: \((\w+)\))?", line):
            depth = len(match[1]) // 4
            path[depth:] = [match[2]]
            found[match[2]] = (path[depth - 1] if depth else None, match[3])
    return found


def all_kinds(kind: type[MemoriesError]) -> list[type[MemoriesError]]:
    """Return a class and all below it, in every module that is loaded."""
    return [kind, *(below for each in kind.__subclasses__() for below in all_kinds(each))]


def test_the_drawn_tree_is_the_tree() -> None:
    """The page that shows all errors shows each at its place, with the builtin it also is."""
    actual = {}
    for name, kind in TREE.items():
        ours = [base.__name__ for base in kind.__bases__ if issubclass(base, MemoriesError)]
        builtin = [base.__name__ for base in kind.__bases__ if base.__module__ == "builtins"]
        actual[name] = (ours[0] if ours else None, builtin[0] if builtin and ours else None)
    assert drawn() == actual


def test_codes_are_distinct_and_plain() -> None:
    """A program can tell every kind of error by its code alone."""
    assert tools.TOOLS  # a door adds a kind of its own
    codes = [kind.code for kind in all_kinds(MemoriesError)]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch("[a-z_]+", code) for code in codes)


def test_codes_are_these() -> None:
    """A code is a promise: to change one breaks programs."""
    assert {name: kind.code for name, kind in TREE.items()} == {
        "MemoriesError": "error",
        "InvalidInput": "invalid",
        "UnknownType": "unknown_type",
        "TooLong": "too_long",
        "AnchorNotFound": "anchor_not_found",
        "AnchorNotUnique": "anchor_not_unique",
        "WriteRefused": "write_refused",
        "KeyReused": "key_reused",
        "NotFound": "not_found",
        "AccessDenied": "access_denied",
        "Conflict": "conflict",
        "EditConflict": "edit_conflict",
        "NameTaken": "name_taken",
        "MemoryOff": "memory_disabled",
        "QuotaExceeded": "quota_exceeded",
        "StorageError": "storage",
        "StoreBusy": "busy",
        "StorageFull": "storage_full",
        "StoreReadOnly": "read_only",
        "StoreDamaged": "damaged",
        "StoreUnavailable": "unavailable",
        "WrongKey": "wrong_key",
        "SchemaMismatch": "schema_mismatch",
        "StoreInterrupted": "interrupted",
        "StoreClosed": "closed",
        "MissingExtra": "missing_extra",
        "PluginFailed": "plugin_failed",
    }


def test_only_a_busy_store_is_worth_the_same_call_again() -> None:
    """`retryable` promises that nothing has to change but the time."""
    assert {name for name, kind in TREE.items() if kind.retryable} == {
        "StoreBusy",
        "StoreInterrupted",
    }


@each_error
def test_the_text_is_the_message_and_the_suggestion(name: str) -> None:
    """What a person reads says what went wrong and what to do."""
    error = EXAMPLES[name]
    assert error.message
    assert error.suggestion
    assert str(error) == f"{error.message} {error.suggestion}"


def test_the_text_is_the_message_where_nothing_can_be_suggested() -> None:
    """No blank hangs behind a message."""
    assert str(errors.NotFound("Gone.")) == "Gone."


@each_error
@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))],  # noqa: S301 -- bytes of this line
)
def test_an_error_can_be_copied_and_cross_to_another_process(name: str, copied: object) -> None:
    """A pool of workers hands errors on pickled: text and attributes arrive."""
    error = EXAMPLES[name]
    other = copied(error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert vars(other) == vars(error)


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("InvalidInput", ValueError),
        ("NotFound", LookupError),
        ("AccessDenied", PermissionError),
        ("StoreBusy", TimeoutError),
        ("MissingExtra", ImportError),
    ],
)
def test_an_error_is_caught_as_the_builtin_it_is(name: str, builtin: type[Exception]) -> None:
    """Code that knows nothing of this package can still tell kinds apart."""
    with pytest.raises(builtin):
        raise EXAMPLES[name]


def test_particular_errors_say_their_figures() -> None:
    """Sizes, places and versions stand in the text and as attributes."""
    assert "name has 3 characters; the limit is 2 (1 too many)." in str(EXAMPLES["TooLong"])
    assert "'note' is not one of: plan, context" in str(EXAMPLES["UnknownType"])
    assert "12 > 1" in str(EXAMPLES["AnchorNotUnique"])
    assert "1:1, 2:5, …" in str(EXAMPLES["AnchorNotUnique"])
    assert "content seems to hold an access key (ghp_…)" in str(EXAMPLES["WriteRefused"])
    assert "you saw version 3, it is at version 4" in str(EXAMPLES["EditConflict"])
    assert "it was deleted" in str(errors.EditConflict(3, None))
    assert "1.5 s" in str(EXAMPLES["StoreBusy"])
    assert 'pip install "memories-sdk[things]"' in str(EXAMPLES["MissingExtra"])
