"""A store behind a server: the same verbs, values and errors as beside the database."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest
from uuid6 import UUID

from memories_sdk import (
    DERIVED,
    DOCUMENTS,
    AccessDenied,
    Agent,
    Edit,
    EditConflict,
    InvalidInput,
    MemoriesError,
    MemoryStore,
    MemoryTools,
    Principal,
    Scope,
)
from memories_sdk.approvals import Approvals
from memories_sdk.errors import Conflict, NameTaken, NotFound, StoreUnavailable
from memories_sdk.importers import jsonl
from memories_sdk.past import single
from memories_sdk.reader import ScopeReader
from memories_sdk.remote import RemoteStore
from memories_sdk.remote.scope import RemoteReader, RemoteScope
from memories_sdk.remote.store import RemoteAgents, RemoteApprovals, RemotePrincipals
from memories_sdk.store import Agents, Principals

KEY = "key AKIA1234567890ABCDEF"

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def far(store: MemoryStore, alice: Principal, address: str) -> Iterator[MemoryStore]:
    """The same store from afar, for alice."""
    secret = store.tokens.issue(alice, access="write").secret
    with MemoryStore(address, token=secret) as found:
        yield found


@pytest.fixture
def near_shelf(store: MemoryStore, alice: Principal) -> Scope:
    """A shelf beside the database."""
    return store.scope(acting_as=alice)


@pytest.fixture
def shelf(far: MemoryStore, alice: Principal) -> Scope:
    """The same shelf from afar."""
    return far.scope(acting_as=alice)


def public(kind: type) -> set[str]:
    """Return the verbs and properties of a class."""
    return {name for name in dir(kind) if name[0] != "_"}


def test_every_verb_crosses_the_line() -> None:
    """A new verb fails here until it has a way to the server: there is no database to fall to."""
    own = {name for kind in (RemoteReader, RemoteScope) for name in vars(kind) if name[0] != "_"}
    # `watch` is made of history and changes, `once` of the verbs.
    assert public(Scope) - own == {"once", "watch"}
    assert public(ScopeReader) - {*vars(RemoteReader)} == {"watch"}


NEAR_ALONE: dict[str, Callable[[Any, Any], object]] = {
    "changes": lambda far, alice: far.changes(acting_as=alice),
    "watch": lambda far, alice: far.watch(acting_as=alice),
    "verify": lambda far, _: far.verify(),
    "heads": lambda far, _: far.heads(),
    "doctor": lambda far, _: far.doctor(repair=True),
    "rekey": lambda far, _: far.rekey(b"0" * 32),
    "enable_rls": lambda far, _: far.enable_rls(),
    "backup": lambda far, _: far.backup("copy.db"),
    "a new group": lambda far, alice: far.principals.group("new", owner=alice),
    "an unknown group": lambda far, _: far.principals.group("new"),
    "add_member": lambda far, alice: far.principals.add_member(alice, alice),
    "remove_member": lambda far, alice: far.principals.remove_member(alice, alice),
    "roles": lambda far, alice: far.principals.roles(alice),
    "create": lambda far, alice: far.agents.create("a", owner=alice),
    "ensure": lambda far, alice: far.agents.ensure("a", owner=alice),
    "transfer": lambda far, alice: far.agents.transfer(
        Agent(1, "a", alice.id), to=alice, acting_as=alice
    ),
    "issue": lambda far, alice: far.tokens.issue(alice),
    "find": lambda far, _: far.tokens.find("mem_x"),
}


def test_every_method_of_a_store_is_decided() -> None:
    """A new one fails here until it crosses the line or refuses to: there is no database."""
    for near, far, made_of_others in (
        (MemoryStore, RemoteStore, set()),
        (Principals, RemotePrincipals, set()),
        (Agents, RemoteAgents, set()),
        (Approvals, RemoteApprovals, {"wait"}),
    ):
        assert public(near) - {*vars(far)} == made_of_others, near


@pytest.mark.parametrize("what", NEAR_ALONE)
def test_what_is_done_beside_the_database_says_so(
    far: MemoryStore, alice: Principal, what: str
) -> None:
    """Keeping a store, its members and its tokens is for whoever runs the server."""
    with pytest.raises(InvalidInput, match="Run it where the server runs"):
        NEAR_ALONE[what](far, alice)


def test_the_address_makes_it_a_store_from_afar(
    far: MemoryStore, address: str, alice: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`MemoryStore` itself opens it, from the environment too; the shelf is a `Scope`."""
    assert isinstance(far, RemoteStore)
    assert far.location == address
    assert isinstance(far.scope(acting_as=alice), Scope)
    assert not isinstance(far.scope(acting_as=alice).read_only(), Scope)
    monkeypatch.setenv("MEMORIES_URL", address)
    monkeypatch.delenv("MEMORIES_TOKEN", raising=False)
    with pytest.raises(InvalidInput, match="token"):
        MemoryStore()
    monkeypatch.setenv("MEMORIES_TOKEN", "mem_wrong")
    with pytest.raises(AccessDenied):
        MemoryStore()
    for location, options in (("http://memories.example", {}), (address, {"durability": "full"})):
        with pytest.raises(InvalidInput):
            MemoryStore(location, token="mem_x", **options)  # noqa: S106
    with pytest.raises(StoreUnavailable):
        MemoryStore("http://127.0.0.1:9", token="mem_x")  # noqa: S106
    with pytest.raises(InvalidInput, match="behind a server"):
        MemoryStore(":memory:", token="mem_x")  # noqa: S106


READS: dict[str, Callable[[Any], object]] = {
    "list": lambda shelf: [shelf.list(), shelf.list(type="plan", limit=1)],
    "next page": lambda shelf: shelf.list(limit=1, cursor=shelf.list(limit=1).next_cursor),
    "read": lambda shelf: [shelf.read(), shelf.read(limit=1)],
    "get": lambda shelf: shelf.get("a/b ?#é", "plan"),
    "counts": lambda shelf: shelf.counts(),
    "recent": lambda shelf: [shelf.recent(), shelf.recent(containing="British", limit=1)],
    "history": lambda shelf: list(shelf.history(limit=500)),
    "history of a name": lambda shelf: list(shelf.history("a/b ?#é", "plan")),
    "history of an id": lambda shelf: list(shelf.history(id=shelf.get("b", "context").id)),
    "history of some": lambda shelf: list(
        shelf.history(ids=[each.id for each in shelf.list(limit=2)], limit=500)
    ),
    "history of none": lambda shelf: list(shelf.history(ids=[])),
    "deleted": lambda shelf: list(shelf.deleted()),
    "search": lambda shelf: [shelf.search("British"), shelf.search("x", tags=["a,b", "c"])],
    "recall": lambda shelf: shelf.relevant_for_prompt("British English"),
    "changes": lambda shelf: list(shelf.changes(since=2, limit=3)),
    "inspect": lambda shelf: list(shelf.inspect("fact", content=KEY)),
    "enabled": lambda shelf: shelf.enabled,
    "vocabularies": lambda shelf: shelf.vocabularies,
    "attachments": lambda shelf: shelf.attachments(),
    "drafts": lambda shelf: shelf.drafts(),
    "repr": lambda shelf: shelf.key,
}


@pytest.mark.parametrize("verb", READS)
def test_reading_gives_the_same_values(near_shelf: Scope, shelf: Scope, verb: str) -> None:
    """Whatever a verb gives, it is equal to what it gives beside the database."""
    soon = datetime(2099, 1, 1, 12, 30, 15, 123456, tzinfo=UTC)
    near_shelf.save("a/b ?#é", "plan", "British\r\nEnglish \U0001f469", tags=["a,b", "c"])
    near_shelf.save("b", "context", "", pinned=True, expires_at=soon, summary=None)
    near_shelf.save("b", "context", expires_at=soon + timedelta(days=1), tags=["x"])
    near_shelf.save("gone", "plan", "x")
    near_shelf.delete("gone", "plan")
    near_shelf.keep_draft("d-1", type="plan", name="half", tags=["t"])
    assert READS[verb](shelf) == READS[verb](near_shelf)


REFUSED: dict[str, Callable[[Any, UUID], object]] = {
    "unknown type": lambda shelf, _: shelf.save("n", "memo", "x"),
    "blank name": lambda shelf, _: shelf.save(" ", "plan", ""),
    "no content": lambda shelf, _: shelf.save("new", "plan"),
    "too long": lambda shelf, _: shelf.save("n" * 201, "plan", "x"),
    "nul": lambda shelf, _: shelf.create("n", "plan", "\0"),
    "taken": lambda shelf, _: shelf.create("a", "plan"),
    "taken by a rename": lambda shelf, id: shelf.update(id, name="b"),
    "nothing found": lambda shelf, _: shelf.replace("a", "plan", find="xyz", new_text=""),
    "found twice": lambda shelf, id: shelf.replace_by_id(id, edits=[Edit("t", "")]),
    "missing": lambda shelf, _: shelf.get("nobody", "plan"),
    "unknown id": lambda shelf, _: shelf.get_by_id(UUID(int=1)),
    "no id": lambda shelf, _: shelf.delete_by_id("../../x"),
    "stale": lambda shelf, id: shelf.update(id, content="mine\nand\nt t", expected_version=1),
    "stale delete": lambda shelf, id: shelf.delete_by_id(id, expected_version=9),
    "next to itself": lambda shelf, id: shelf.move(id, before=id),
    "no neighbour": lambda shelf, id: shelf.move(id),
    "twice": lambda shelf, id: shelf.reorder([id, id]),
    "foreign order": lambda shelf, id: shelf.reorder([id, UUID(int=1)]),
    "secret": lambda shelf, _: shelf.save("k", "fact", "key AKIA1234567890ABCDEF"),
    "limit": lambda shelf, _: shelf.list(limit=0),
    "cursor": lambda shelf, _: shelf.list(cursor="x"),
    "nothing to undo": lambda shelf, _: shelf.undo(seq=10**6),
    "nothing to prune": lambda shelf, _: shelf.prune(),
    "not deleted": lambda shelf, id: shelf.restore(id),
    "no picture": lambda shelf, _: shelf.attach(b"<svg>"),
    "no such picture": lambda shelf, _: shelf.attachment(UUID(int=1)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_the_same_errors(near_shelf: Scope, shelf: Scope, case: str) -> None:
    """Class, words, code and every detail, the difference of a conflict included."""
    near_shelf.create("b", "plan", "x")
    memory = near_shelf.create("a", "plan", "one\nand\nt t")
    near_shelf.update(memory.id, content="ONE\nand\nt t")
    errors = []
    for it in (near_shelf, shelf):
        with pytest.raises(MemoriesError) as caught:
            REFUSED[case](it, memory.id)
        errors.append(caught.value)
    near, far = errors
    assert (type(far), str(far), far.code) == (type(near), str(near), near.code)
    assert vars(far) == vars(near)


def test_writing_writes_the_same(near_shelf: Scope, shelf: Scope) -> None:
    """Each verb that writes returns what is stored, and the history names who did it."""
    saved = shelf.save("n", "plan", "one\ud800 two", tags=("a",), order=5)
    assert saved.created
    assert saved.memory == near_shelf.get("n", "plan")
    assert (saved.memory.content, saved.memory.order) == ("one two", 5)
    assert not shelf.save("n", "plan", summary="Own").created
    made = shelf.create("m", "plan", "x", order=2, pinned=True)
    assert (made.order, made.pinned) == (2, True)
    changed = shelf.update(saved.memory.id, summary=DERIVED, name="renamed", untrusted=True)
    assert changed == near_shelf.get("renamed", "plan")
    assert changed.summary_derived
    assert shelf.replace("renamed", "plan", find="two", new_text="").content == "one "
    assert shelf.replace_by_id(made.id, edits=[Edit("x", "y"), Edit("y", "z")]).content == "z"
    assert shelf.move(made.id, after=changed.id) == near_shelf.get_by_id(made.id)
    shelf.reorder([made.id, changed.id])
    assert [head.name for head in near_shelf.list()] == ["m", "renamed"]
    assert shelf.delete("m", "plan", expected_version=2).id == made.id
    assert shelf.restore(made.id) == near_shelf.get_by_id(made.id)
    assert shelf.delete_by_id(made.id).name == "m"
    assert [each.action for each in shelf.undo()] == ["delete"]
    assert shelf.clear(type="plan") == 2
    assert len(shelf.undo()) == 2
    assert {each.actor for each in near_shelf.history()} == {"user:alice"}


def test_a_shelf_is_kept_from_afar(
    near_shelf: Scope, shelf: Scope, far: MemoryStore, alice: Principal, lab: Principal
) -> None:
    """Redaction, pruning, the switch, drafts, and the move to another shelf."""
    memory = shelf.create("n", "plan", "hunter2")
    shelf.update(memory.id, content="hunter2!")
    shelf.update(memory.id, content="hunter2!!")
    assert shelf.redact("hunter2") == 4
    assert "hunter2" not in near_shelf.get("n", "plan").content
    assert shelf.prune(keep=1) == 2
    shelf.switch(on=False)
    assert not near_shelf.enabled
    shelf.switch(on=True)
    kept = shelf.keep_draft("d1", type="plan", name="half", memory_id=memory.id, version=1)
    assert near_shelf.drafts() == (kept,)
    shelf.drop_draft("d1")
    assert near_shelf.drafts() == ()
    there = far.scope(acting_as=alice, principal=lab)
    assert shelf.transfer(memory.id, to=there).principal_id == lab.id
    with pytest.raises(InvalidInput):
        shelf.transfer(memory.id, to=near_shelf)


def test_memories_come_with_their_past_from_afar(
    near_shelf: Scope, shelf: Scope, store: MemoryStore, tmp_path: Path, bob: Principal
) -> None:
    """Whoever made a change elsewhere is told beside who brings it: nobody proved it here."""
    memory = shelf.create("n", "plan", "one", tags=["t"], summary="Own", order=7)
    near_shelf.update(memory.id, content="two \r\n", expires_at=datetime(2099, 1, 1, tzinfo=UTC))
    near_shelf.create("gone", "context", "x")
    near_shelf.delete("gone", "context")
    jsonl.export(shelf, tmp_path / "whole.jsonl")
    report = jsonl.bring_in(shelf, tmp_path / "whole.jsonl", conflict="rename")
    assert report.counts == {"unchanged": 1, "skipped": 1}
    his = store.scope(acting_as=bob)
    secret = store.tokens.issue(bob, access="write").secret
    with MemoryStore(shelf._line.url, token=secret) as far:
        there = far.scope(acting_as=bob)
        for dry_run in (True, False):
            report = jsonl.bring_in(there, tmp_path / "whole.jsonl", dry_run=dry_run)
            assert report.counts == {"created": 2}
        came, was = his.get("n", "plan"), near_shelf.get("n", "plan")
        same = {"id": came.id, "principal_id": bob.id}
        assert came == replace(was, **same)
        assert [(each.actor, each.source) for each in his.history(id=came.id)] == [
            ("user:bob", "user:alice"),
            ("user:bob", "user:alice, rest"),
        ]
        assert [each.name for each in there.deleted()] == ["gone"]
        assert store.verify() == []
        assert there.adopt([], conflict="fail") == []
        past = single(there.vocabularies, {"name": "n", "type": "plan", "content": "y"})
        key = single(there.vocabularies, {"name": "k", "type": "fact", "content": KEY})
        for conflict in ("skip", "overwrite", "rename"):
            near, afar = (
                each.adopt([past, key], conflict=conflict, dry_run=True) for each in (his, there)
            )
            assert [(it.fate, it.name) for it in near] == [(it.fate, it.name) for it in afar]
            assert vars(near[1].error) == vars(afar[1].error)
        for each in (his, there):
            with pytest.raises(NameTaken):
                each.adopt([past], conflict="fail")
            with pytest.raises(InvalidInput, match="conflict"):
                each.adopt([past], conflict="guess")


def test_a_write_is_repeated_without_doubling(near_shelf: Scope, shelf: Scope) -> None:
    """With a key, a lost answer costs nothing: the same call gives the same memory."""
    once = shelf.once("k1")
    assert once.create("n", "plan", "x") == once.create("n", "plan", "x")
    assert near_shelf.list().total == 1


SESSION: Final = {"data": {"user": {"id": 1, "kind": "user", "name": "alice"}, "principals": []}}
ANSWERS: Final = (
    *((200, text) for text in ("", "<html>", "5", "[]", "{}", '{"data": 5}', '{"data": {}}')),
    *((200, f'{{"data": {{"{key}": 5, "total": 5}}}}') for key in ("memory", "memories", "counts")),
    (200, '{"data": {"memory": {}, "memories": [{}], "hits": [{}], "revisions": [{}]}}'),
    (200, '{"data": {"memory": {"id": "x"}, "memories": ["x"], "revisions": ["x"], "hits": {}}}'),
    (200, "[" * 100_000),
    (200, b"\xff"),
    *((status, "") for status in (204, 302, 304, 404, 500, 502)),
    *((409, f'{{"error": {text}}}') for text in ("5", "[]", "null", '{"kind": 5, "details": 5}')),
    (409, '{"error": {"kind": "edit_conflict", "details": {"current": {}, "difference": 5}}}'),
)


@pytest.mark.parametrize(("status", "text"), ANSWERS)
def test_what_no_server_of_ours_says_is_a_typed_error(status: int, text: str | bytes) -> None:
    """Whatever answers there: an old version, a login page, a proxy, or nothing that is whole."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/session"):
            return httpx.Response(200, json=SESSION)
        asked.append(request.method)
        there = {"Location": "https://elsewhere.example/"}
        return httpx.Response(status, content=text, headers=there)

    transport = httpx.MockTransport(answer)
    with RemoteStore("https://memories.example", token="mem_x", transport=transport) as far:  # noqa: S106
        shelf = far.scope(acting_as=far.principals.user("alice"))
        id = "01a22f0c-f724-7322-853f-d1424b84dda0"
        calls: tuple[Callable[[], object], ...] = (
            shelf.list,
            shelf.counts,
            shelf.history,
            lambda: shelf.get("n", "plan"),
            lambda: shelf.search("n"),
            lambda: shelf.create("n", "plan", "x"),
            lambda: shelf.once("k").save("n", "plan", "x"),
            lambda: shelf.delete_by_id(id),
        )
        for call in calls:
            with pytest.raises(MemoriesError) as caught:
                call()
            assert isinstance(caught.value, StoreUnavailable | Conflict)
            assert caught.value.suggestion
    # Neither was anything sent again, nor anything to where a redirect pointed.
    assert len(asked) == len(calls)


def test_a_lost_line_is_a_typed_error(alice: Principal) -> None:
    """Whether a write arrived is not known, so it is not repeated; the words say how to."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/session"):
            return httpx.Response(200, json=SESSION)
        asked.append(request.method)
        error = (httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.ReadError, httpx.DecodingError)
        raise error[len(asked) % 4]("", request=request)

    transport = httpx.MockTransport(answer)
    with RemoteStore("https://memories.example", token="mem_x", transport=transport) as far:  # noqa: S106
        shelf = far.scope(acting_as=alice)
        for _ in range(4):
            with pytest.raises(StoreUnavailable, match=r"cannot be reached.*scope\.once"):
                shelf.create("n", "plan", "")
    assert asked == ["POST"] * 4


def test_a_server_that_dies_in_the_middle_is_a_typed_error() -> None:
    """A line that is cut before, in and after the head of an answer, and one that is no TLS."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"
    for said in (b"", b"HTTP/1.1 2", head, head + b'{"data": {', b"SSH-2.0-x\r\n"):
        with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor() as pool:

            def die(listener: socket.socket = listener, said: bytes = said) -> None:
                line, _ = listener.accept()
                with line:
                    line.recv(65_536)
                    line.sendall(said)

            died = pool.submit(die)
            scheme = "https" if said.startswith(b"SSH") else "http"
            with pytest.raises(StoreUnavailable, match="cannot be reached"):
                RemoteStore(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}", token="mem_x")  # noqa: S106
            died.result(60)


@pytest.mark.parametrize("place", ["https://", "https://127.0.0.1:99999", "https://a b\n", "x", ""])
def test_what_is_no_address_is_a_typed_error(place: str) -> None:
    """Before anything is sent, or because there is nothing to send it to."""
    with pytest.raises((InvalidInput, StoreUnavailable)):
        RemoteStore(place, token="mem_x")  # noqa: S106


def test_no_argument_reaches_another_route(
    near_shelf: Scope, shelf: Scope, far: RemoteStore
) -> None:
    """A key, an id or a version is one part of an address, whatever stands in it."""
    memory = near_shelf.create("n", "plan", "x")
    for bad in ("../enabled", "a/b", "a?b", "", ".."):
        for each in (near_shelf, shelf):
            with pytest.raises(InvalidInput):
                each.keep_draft(bad, type="plan")
            with pytest.raises(InvalidInput):
                each.drop_draft(bad)
        with pytest.raises(NotFound):
            far.approvals.refuse(f"{memory.id}/grant?{bad}", acting_as=shelf.caller)
    for each in (near_shelf, shelf):
        with pytest.raises(InvalidInput):
            each.update(memory.id, content="y", expected_version='1", "v2')
    assert near_shelf.get("n", "plan").version == 1


def test_nobody_reaches_more_from_afar(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal, address: str
) -> None:
    """A token is one user's; a forged principal and an agent of somebody else are refused."""
    store.agents.create("hers", owner=alice)
    crew = store.agents.create("crew", owner=lab)
    secret = store.tokens.issue(bob, access="read").secret
    with MemoryStore(address, token=secret) as far:
        assert far.principals.visible_to(bob) == [bob, lab]
        assert far.principals.user("bob") == bob
        assert far.principals.group("lab") == lab
        assert far.agents.owned_by(lab) == [crew]
        assert far.agents.seen_by(crew.id, bob) == crew
        for who in (alice, lab, Principal(99, "user", "x")):
            with pytest.raises(AccessDenied):
                far.scope(acting_as=who)
        with pytest.raises(AccessDenied):
            far.scope(acting_as=bob, principal=alice)
        with pytest.raises(MemoriesError):
            far.scope(acting_as=bob, agent="hers")
        forged = far.scope(acting_as=bob)
        forged.principal = alice
        with pytest.raises(AccessDenied):
            forged.list()
        with pytest.raises(AccessDenied, match="only read"):
            far.scope(acting_as=bob).create("n", "plan", "")
        store.principals.remove_member(lab, bob)
        with pytest.raises(AccessDenied):
            far.scope(acting_as=bob, principal=lab)


def test_tools_and_approvals_work_from_afar(
    store: MemoryStore, far: MemoryStore, alice: Principal
) -> None:
    """An agent writes through the line as it does beside the database, and a person decides."""
    agent = store.agents.create("writer", owner=alice)
    near = MemoryTools(store, acting_as=alice, agent=agent)
    tools = MemoryTools(far, acting_as=alice, agent=agent)
    save = {"action": "save", "name": "n", "type": "plan", "content": "two words"}
    assert tools.call("memory", save).text == "Created memory [n] (type=plan) in agent scope."
    get = {"action": "get", "name": "n", "type": "plan"}
    assert tools.call("memory", get) == near.call("memory", get)
    delete = {"action": "delete", "name": "n", "type": "plan"}
    asked = tools.call("memory", delete)
    assert asked.approval is not None
    waiting = near.call("memory", delete).approval
    (shown,) = far.approvals.list(acting_as=alice)
    assert shown == store.approvals.get(waiting.id, acting_as=alice)
    assert far.approvals.count(acting_as=alice) == 1
    assert far.approvals.grant(shown.id, acting_as=alice).ok
    assert tools.call("memory", get).code == "not_found"
    tools.call("memory", save)
    assert tools.call("memory", delete, approved=True).ok
    narrow = far.scope(acting_as=alice, agent=agent, vocabularies=[DOCUMENTS], source="run 12")
    narrow.create("x", "plan", "")
    (last,) = store.scope(acting_as=alice, agent=agent).history(limit=1)
    assert (last.actor, last.source) == ("user:alice", "run 12")


def test_a_change_is_noticed_from_afar(near_shelf: Scope, shelf: Scope) -> None:
    """`watch` follows the shelf over the line."""
    near_shelf.create("n", "plan", "x")
    watch = shelf.watch(since=0)
    assert [each.name for each in next(watch)] == ["n"]


def test_a_conflict_can_be_brought_together(near_shelf: Scope, shelf: Scope) -> None:
    """The error carries both changes, so that an editor can offer them."""
    memory = shelf.create("n", "plan", "one\nand\ntwo\n")
    near_shelf.update(memory.id, content="ONE\nand\ntwo\n")
    with pytest.raises(EditConflict) as caught:
        shelf.update(memory.id, content="one\nand\nTWO\n", expected_version=1)
    assert caught.value.difference is not None
    assert caught.value.difference.text == "ONE\nand\nTWO\n"
    assert caught.value.current == near_shelf.get("n", "plan")
