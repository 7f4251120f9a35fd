"""No answer grows with the shelf: each verb and each tool states its bound and keeps it.

The verbs come from `Scope` and the tools from their own tables: a new one fails here until it has
a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memories_sdk import InvalidInput, MemoryStore, MemoryTools, Scope
from memories_sdk.desk import MOST_DRAFTS
from memories_sdk.document_tools import ALL_OPERATIONS, TOOLS
from memories_sdk.fact_tools import FACT_TOOLS
from memories_sdk.facts import MAX_LISTED
from memories_sdk.memory import MAX_BODY_BYTES
from memories_sdk.pages import MAX_PAGE
from memories_sdk.results import MAX_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sized

MORE = MAX_PAGE + 20
"""How much of everything the shelf holds: more than any list may return."""

LISTS: dict[str, Callable[[Scope, int], Sized]] = {
    "list": lambda shelf, limit: shelf.list(limit=limit),
    "read": lambda shelf, limit: shelf.read(limit=limit).memories,
    "recent": lambda shelf, limit: shelf.recent(limit=limit).memories,
    "search": lambda shelf, limit: shelf.search("word", limit=limit),
    "history": lambda shelf, limit: shelf.history(limit=limit),
    "changes": lambda shelf, limit: shelf.changes(limit=limit),
    "deleted": lambda shelf, limit: shelf.deleted(limit=limit),
}
"""Verbs that take a limit: all of `MAX_PAGE` may be asked for, and no more."""

FIXED: dict[str, tuple[Callable[[Scope], Sized], int]] = {
    "attachments": (lambda shelf: shelf.attachments(), MAX_PAGE),
    "drafts": (lambda shelf: shelf.drafts(), MOST_DRAFTS),
    "counts": (lambda shelf: shelf.counts(), 8),
    "inspect": (lambda shelf: shelf.inspect("fact", content="password=Hunter2x\n" * 5_000), 100),
    "relevant_for_prompt": (lambda shelf: shelf.relevant_for_prompt("word").text, 1_200),
}
"""Verbs with a bound of their own."""

ONE = """
    adopt attach attachment clear create delete delete_by_id detach drop_draft get get_by_id
    keep_draft move once prune read_only redact reorder replace replace_by_id restore save switch
    transfer undo update watch
"""
"""Verbs that give one memory or part, a number, nothing, or one answer for each thing given."""


def png(number: int) -> bytes:
    """Return a picture unlike the others."""
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + number.to_bytes(4, "big")


@pytest.fixture(scope="module")
def store() -> Iterator[MemoryStore]:
    """A store in memory."""
    with MemoryStore(":memory:", durability="process") as store:
        yield store


@pytest.fixture(scope="module")
def full(store: MemoryStore) -> Scope:
    """A shelf with more of everything than any answer may hold."""
    shelf = store.scope(acting_as=store.principals.user("alice"))
    for number in range(MORE):
        shelf.create(f"gone{number}", "plan", "word")
    shelf.clear()
    for number in range(MORE):
        shelf.create(f"n{number:04}", "plan", f"a word {number} " + "x" * 300)
        shelf.create(f"k{number:04}", "fact", f"a word {number} " + "x" * 300)
        shelf.attach(png(number))
    for number in range(MOST_DRAFTS + 5):
        shelf.keep_draft(f"d{number}", type="plan", content="word")
    shelf.create("huge", "plan", "x" * MAX_BODY_BYTES)
    return shelf


def test_every_verb_states_its_bound() -> None:
    """A new verb fails here until somebody says how much it may return."""
    verbs = {name for name in dir(Scope) if name[0] != "_" and callable(getattr(Scope, name))}
    assert verbs == {*LISTS, *FIXED, *ONE.split()}


@pytest.mark.parametrize("verb", LISTS)
def test_a_list_ends_at_its_limit(full: Scope, verb: str) -> None:
    """The largest page is full and no fuller; a larger one is refused, not cut."""
    assert 0 < len(LISTS[verb](full, MAX_PAGE)) <= MAX_PAGE
    assert len(LISTS[verb](full, 3)) == 3
    for limit in (MAX_PAGE + 1, 0, -1, 10**9):
        with pytest.raises(InvalidInput, match="limit"):
            LISTS[verb](full, limit)


@pytest.mark.parametrize("verb", FIXED)
def test_an_answer_without_a_limit_has_a_bound(full: Scope, verb: str) -> None:
    """What cannot be asked for in pages is small by itself."""
    call, bound = FIXED[verb]
    assert 0 < len(call(full)) <= bound


CALLS = {f"{tool} {it}": (tool, {"action": it}) for tool in TOOLS for it in ALL_OPERATIONS} | {
    tool: (tool, {}) for tool in FACT_TOOLS
}


@pytest.mark.parametrize("call", CALLS)
def test_no_tool_says_more_than_a_model_reads(store: MemoryStore, full: Scope, call: str) -> None:
    """Every operation of every tool stays within the budget, whatever is on the shelf."""
    tool, own = CALLS[call]
    every = dict.fromkeys(TOOLS, ALL_OPERATIONS)
    tools = MemoryTools(store, acting_as=full.caller, operations=every)
    sent = {"name": "huge", "type": "plan", "key": "k0001", "find": "x", "new_text": "y"}
    sent["query"] = "word"
    if tool in FACT_TOOLS:
        sent["type"] = "fact"
    answer = tools.call(tool, sent | own, prompt="What do you remember of the word?")
    assert len(answer.text) <= MAX_TEXT + 300
    assert len(answer.hint) <= 2_000
    if tool == "list_memory":
        assert answer.text.count("\n") <= MAX_LISTED
