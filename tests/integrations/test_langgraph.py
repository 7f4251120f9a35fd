"""The shelf as a store of LangGraph: beside its own, and what its own tests hold stores to."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable

import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from uuid6 import UUID

from memories_sdk import Memory, Scope
from memories_sdk.document_tools import UNTRUSTED_NOTE
from memories_sdk.integrations.langgraph import ShelfStore


def both(scope: Scope) -> tuple[BaseStore, BaseStore]:
    """Return ours and LangGraph's own."""
    return ShelfStore(scope), InMemoryStore()


def seen(items: object) -> object:
    """Return what can be compared of what a store answers."""
    if isinstance(items, list):
        return [seen(each) for each in items]
    return items if items is None else (items.namespace, items.key, items.value)


ITEMS = [
    (("docs",), "a", {"text": "A tram line", "n": 1}),
    (("docs", "alice"), "b", {"text": "Bread and butter", "n": 2, "deep": {"list": [1, None]}}),
    (("docs", "bob"), "c/d", {"text": "Ümläut 日本", "n": 2.5}),
    (("other", "alice", "x y"), "e%", {"text": "", "n": 3}),
]


def test_langgraph_gets_from_us_what_it_gets_from_its_own_store(shelf: Scope) -> None:
    """Put, get, overwrite, delete, search with filters and pages, namespaces: side by side."""
    stores = both(shelf)
    for store in stores:
        for namespace, key, value in ITEMS:
            store.put(namespace, key, value)
        store.put(("docs",), "a", {"text": "A tram line", "n": 1, "new": True})
        store.put(("docs",), "gone", {"n": 0})
        store.delete(("docs",), "gone")
        store.delete(("docs",), "never")
    ours, theirs = stores
    for namespace, key, _ in [*ITEMS, (("docs",), "gone", {})]:
        assert seen(ours.get(namespace, key)) == seen(theirs.get(namespace, key))
    # Asked for a namespace that is not there, the other store lists it from then on.
    assert ours.get(("nowhere",), "a") is None
    filters = [
        None,
        {"n": 2},
        {"n": {"$gt": 1, "$lte": 2.5}},
        {"n": {"$ne": 1}, "text": "Bread and butter"},
        {"deep": {"list": [1, None]}},
        {"missing": None},
    ]
    for prefix, wanted in itertools.product([(), ("docs",), ("docs", "bob"), ("x",)], filters):
        found = [store.search(prefix, filter=wanted, limit=50) for store in stores]
        mine, other = (sorted(seen(each), key=repr) for each in found)
        assert mine == other, (prefix, wanted)
    for options in (
        {},
        {"prefix": ("docs",)},
        {"suffix": ("alice",)},
        {"prefix": ("*", "alice")},
        {"max_depth": 1},
        {"prefix": ("docs",), "max_depth": 2},
        {"limit": 2, "offset": 1},
    ):
        assert ours.list_namespaces(**options) == theirs.list_namespaces(**options), options
    for store in stores:
        with pytest.raises(InvalidNamespaceError):
            store.put((), "k", {})
    pages = [ours.search((), limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 0]
    assert len({item.key for page in pages for item in page}) == 4


def test_a_batch_reads_before_it_writes(shelf: Scope) -> None:
    """As LangGraph's own: of several writes of one key the last holds."""
    for store in both(shelf):
        results = store.batch(
            [
                PutOp(("a",), "k", {"v": 1}),
                GetOp(("a",), "k"),
                PutOp(("a",), "k", {"v": 2}),
            ]
        )
        assert results == [None, None, None]
        assert store.get(("a",), "k").value == {"v": 2}
        assert asyncio.run(store.aget(("a",), "k")).value == {"v": 2}


def test_a_search_of_langgraph_is_that_of_the_shelf(shelf: Scope) -> None:
    """Ranked, with a score, in any English ending; a person's own text is found too."""
    store = ShelfStore(shelf)
    store.put(("docs",), "a", {"text": "She rides trams to work"})
    store.put(("docs",), "b", {"text": "Bread"})
    shelf.save("docs/by-hand", "context", "Written by a person about a tram")
    shelf.save("plan", "plan", "another type: tram")
    found = store.search(("docs",), query="tram")
    assert {item.key for item in found} == {"a", "by-hand"}
    assert all(item.score > 0 for item in found)
    assert store.get(("docs",), "by-hand").value == {"content": "Written by a person about a tram"}


@pytest.fixture
def kept(shelf: Scope) -> ShelfStore:
    """A store with an item in `("foo", "bar")`."""
    store = ShelfStore(shelf)
    store.put(("foo", "bar"), "key", {"original": True})
    return store


CARRIERS: list[Callable[[tuple[object, ...]], object]] = [
    lambda it: GetOp(it, "key"),
    lambda it: PutOp(it, "key", {"changed": True}),
    lambda it: PutOp(it, "key", None),
    SearchOp,
    lambda it: ListNamespacesOp((MatchCondition("prefix", it),)),
    lambda it: ListNamespacesOp((MatchCondition("suffix", it),)),
]


@pytest.mark.parametrize("namespace", [("foo.bar",), ("foo", ""), ("foo", 1), ("a\0b",)])
def test_a_batch_with_a_wrong_label_does_nothing(
    kept: ShelfStore, namespace: tuple[object, ...]
) -> None:
    """Whatever carries the label, sync and async; what stood before it is not written either."""
    for make in CARRIERS:
        ops = [PutOp(("valid",), "key", {}), make(namespace)]
        with pytest.raises(InvalidNamespaceError):
            kept.batch(ops)
        with pytest.raises(InvalidNamespaceError):
            asyncio.run(kept.abatch(ops))
    assert kept.get(("valid",), "key") is None
    assert kept.get(("foo", "bar"), "key").value == {"original": True}


def test_one_wrong_call_fails_alone(kept: ShelfStore) -> None:
    """Of two calls at once, the good one is answered."""

    async def both_at_once() -> list[object]:
        calls = (kept.aget(("foo", "bar"), "key"), kept.aget(("foo.bar",), "key"))
        return await asyncio.gather(*calls, return_exceptions=True)

    good, bad = asyncio.run(both_at_once())
    assert good.value == {"original": True}
    assert isinstance(bad, InvalidNamespaceError)


def test_an_empty_prefix_is_all_and_a_star_is_any_label(kept: ShelfStore) -> None:
    """Both are no wrong labels where one searches and lists."""
    star = ListNamespacesOp((MatchCondition("prefix", ("foo", "*")),))
    found, listed = kept.batch([SearchOp(()), star])
    assert [item.namespace for item in found] == [("foo", "bar")]
    assert listed == [("foo", "bar")]


def test_a_prefix_may_be_a_list(kept: ShelfStore) -> None:
    """Callers pass one, though the annotation says tuple."""
    assert [item.key for item in kept.search(["foo"])] == ["key"]
    assert kept.list_namespaces(prefix=["foo"], suffix=["bar"]) == [("foo", "bar")]


LABELS = {
    "star*": "starX",
    "q?m": "qXm",
    "br[ack]et": "brXacXket",
    "user_1": "userX1",
    "a%b": "axxb",
    "plus+": "plusX",
    "Case": "case",
    "end": "ending",
    "line": "line\n",
    "ünï": "uni",
}


def test_a_label_means_itself(kept: ShelfStore) -> None:
    """No letter is a pattern, case counts, and a label is no beginning of a longer one."""
    for label, decoy in LABELS.items():
        for namespace in ((label,), (decoy,), (label, "child")):
            kept.put(namespace, "k", {"v": 1})
    for label in LABELS:
        family = {(label,), (label, "child")}
        assert {item.namespace for item in kept.search((label,))} == family
        assert set(kept.list_namespaces(prefix=(label,))) == family
        assert kept.list_namespaces(suffix=(label, "child")) == [(label, "child")]


VALUES = {
    "hyphen": {"access-level": "public", "user": {"access-level": "nested"}},
    "digit": {"123abc": "ok", "user": {"123abc": "ok2"}},
    "dotted": {"user.name": "whole", "user": {"name": "part"}},
    "flag": {"active": True, "n": 10},
    "off": {"active": False, "n": 9.5},
}


FILTERS = [
    ({"access-level": "public"}, ["hyphen"]),
    ({"user.access-level": "nested"}, ["hyphen"]),
    ({"123abc": "ok"}, ["digit"]),
    ({"user.123abc": {"$eq": "ok2"}}, ["digit"]),
    ({"user.name": "whole"}, ["dotted"]),
    ({"user.name": "part"}, []),
    ({"active": True}, ["flag"]),
    ({"active": False}, ["off"]),
    ({"n": {"$gte": 9.5, "$lt": 10}}, ["off"]),
    ({"n": {"$gt": "9"}}, []),
    ({"active": "' OR '1'='1"}, []),
    ({"x') = 'y' OR '1'='1": "y"}, []),
]


def test_a_filter_compares_what_stands_under_a_key(shelf: Scope) -> None:
    """Any key, a path of keys, truth values and numbers; a text for a database is only a text."""
    store = ShelfStore(shelf)
    for key, value in VALUES.items():
        store.put(("docs",), key, value)
    for wanted, keys in FILTERS:
        assert [item.key for item in store.search(("docs",), filter=wanted)] == keys, wanted


def test_an_unknown_comparison_is_refused(kept: ShelfStore) -> None:
    """It is not passed over, which would find everything."""
    with pytest.raises(ValueError, match=r"\$near"):
        kept.search(("foo",), filter={"original": {"$near": 1}})


def test_pages_of_a_search_are_the_whole(kept: ShelfStore) -> None:
    """With a query and without, each item is on one page."""
    for number in range(12):
        kept.put(("many",), f"{number:02}", {"text": f"tram number {number}"})
    for query in (None, "tram"):
        whole = kept.search(("many",), query=query, limit=50)
        pages = [kept.search(("many",), query=query, limit=5, offset=at) for at in (0, 5, 10, 15)]
        assert [len(page) for page in pages] == [5, 5, 2, 0]
        assert seen([item for page in pages for item in page]) == seen(whole)


def test_an_item_keeps_when_it_was_made(kept: ShelfStore) -> None:
    """A put of the same key changes the value and the second time alone."""
    first = kept.get(("foo", "bar"), "key")
    kept.put(("foo", "bar"), "key", {"changed": "Ümläut 日本"})
    second = kept.get(("foo", "bar"), "key")
    assert second.value == {"changed": "Ümläut 日本"}
    assert second.created_at == first.created_at
    assert second.updated_at >= first.updated_at


def test_a_key_means_itself(kept: ShelfStore) -> None:
    """Blanks at its ends, half a character and composed letters are part of it."""
    keys = ["a", "a ", " a", "  a", " ", "", "é", "e\u0301", "\ud800", "%20", "a%20", "..", "\0"]
    for key in keys:
        kept.put((" odd",), key, {"key": ascii(key)})
    kept.put(("odd",), "a", {"key": "another"})
    for key in keys:
        item = kept.get((" odd",), key)
        assert (item.namespace, item.key, item.value) == ((" odd",), key, {"key": ascii(key)})
    assert {item.key for item in kept.search((" odd",), limit=50)} == set(keys)


@pytest.mark.parametrize("query", [None, "original"])
def test_a_search_leaves_out_what_is_deleted_meanwhile(
    kept: ShelfStore, shelf: Scope, monkeypatch: pytest.MonkeyPatch, query: str | None
) -> None:
    """Somebody else may delete an item between its listing and its reading."""
    kept.put(("foo", "bar"), "other", {"original": True})
    read = Scope.get_by_id

    def gone_first(scope: Scope, id: UUID | str) -> Memory:
        found = read(scope, id)
        if found.name == "foo/bar/key":
            shelf.delete(found.name, found.type)
        return read(scope, id)

    monkeypatch.setattr(Scope, "get_by_id", gone_first)
    assert [item.key for item in kept.search(("foo",), query=query)] == ["other"]


def test_many_puts_at_once_are_all_kept(kept: ShelfStore) -> None:
    """From many tasks of one loop."""

    async def put_all() -> None:
        await asyncio.gather(*(kept.aput(("many",), str(i), {"n": i}) for i in range(40)))

    asyncio.run(put_all())
    found = asyncio.run(kept.asearch(("many",), limit=100))
    assert sorted(item.value["n"] for item in found) == list(range(40))


def test_items_do_not_expire(kept: ShelfStore) -> None:
    """Asked for a time to live, the store says so instead of keeping the item for good."""
    with pytest.raises(NotImplementedError, match="TTL"):
        kept.put(("foo",), "key", {}, ttl=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda it: it.aput(("foo", "bar"), "key", {"v": 1}),
        lambda it: it.adelete(("foo", "bar"), "key"),
        lambda it: it.abatch([PutOp(("foo", "bar"), "key", {"v": 1})]),
    ],
    ids=["aput", "adelete", "abatch"],
)
def test_the_loop_turns_while_a_write_waits(
    kept: ShelfStore,
    turns_while_locked: Callable[[Callable[[], Awaitable[object]]], object],
    call: Callable[[ShelfStore], Awaitable[object]],
) -> None:
    """A graph goes on while its store waits for another program's lock."""
    turns_while_locked(lambda: call(kept))
    found = kept.get(("foo", "bar"), "key")
    assert found is None or found.value == {"v": 1}


def test_an_untrusted_item_says_so_and_keeps_its_body(shelf: Scope) -> None:
    """A graph reads the note in the value; what it puts back is stored without it."""
    store = ShelfStore(shelf)
    store.put(("notes",), "n", {"text": "obey", "n": 1})
    shelf.update(shelf.get("notes/n", "context").id, untrusted=True)
    item = store.get(("notes",), "n")
    assert item.value == {"(untrusted)": UNTRUSTED_NOTE, "text": "obey", "n": 1}
    store.put(("notes",), "n", item.value | {"n": 2})
    memory = shelf.get("notes/n", "context")
    assert memory.untrusted
    assert json.loads(memory.content) == {"text": "obey", "n": 2}
    assert [it.value["n"] for it in store.search(("notes",), filter={"n": 2})] == [2]
