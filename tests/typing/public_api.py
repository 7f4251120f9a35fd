"""The types that a caller's checker sees: read by mypy, never run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import assert_type

from fastapi import FastAPI
from starlette.requests import Request
from uuid6 import UUID

from memories_sdk import (
    DERIVED,
    DOCUMENTS,
    FACTS,
    Agent,
    Edit,
    EditConflict,
    InvalidInput,
    MemoriesError,
    Memory,
    MemoryHead,
    MemoryReader,
    MemoryStore,
    MemoryTools,
    MemoryWriter,
    Principal,
    Scope,
    ToolResult,
    Vocabulary,
)
from memories_sdk.approvals import Approvals, Call
from memories_sdk.arguments import Arguments
from memories_sdk.attachments import Attachment, AttachmentHead
from memories_sdk.doctor import Symptom
from memories_sdk.editor_drafts import EditorDraft
from memories_sdk.guards import Concern
from memories_sdk.history import History, Revision
from memories_sdk.hooks import Plugins, Write
from memories_sdk.integrity import Finding
from memories_sdk.memory import Page, Saved
from memories_sdk.past import Adopted, single
from memories_sdk.policy import APPROVAL, WishPolicy
from memories_sdk.principals import PrincipalKind, Role, ScopeKind
from memories_sdk.reader import ScopeReader
from memories_sdk.results import Answer
from memories_sdk.schemas import Definition
from memories_sdk.search.hits import Hit, Hits
from memories_sdk.search.recall import Recall
from memories_sdk.server import Caller
from memories_sdk.tokens import IssuedToken, Token
from memories_sdk.tools import DEFAULT, FACT_TOOLS, Approval, ApprovalPolicy, ask_in_terminal


def opening() -> None:
    """Check the store and what it hands out."""
    with MemoryStore("memories.db", durability="process", timeout=5) as store:
        assert_type(store, MemoryStore)
        assert_type(store.location, str)
        assert_type(store.vocabularies, tuple[Vocabulary, ...])
        assert_type(store.changes(acting_as=store.principals.user("a"), since=3, limit=9), History)
        assert_type(next(store.watch(acting_as=store.principals.user("a"))), History)
        assert_type(store.verify(heads=store.heads()), list[Finding])
        assert_type(store.heads(), dict[str, str])
        assert_type(store.doctor(repair=True), list[Symptom])
        store.rekey(bytes(32))
        store.enable_rls()
        assert_type(store.backup("copy.db"), None)
        assert_type(store.close(), None)
    assert_type((DOCUMENTS, FACTS), tuple[Vocabulary, Vocabulary])
    assert_type(DOCUMENTS.types, tuple[str, ...])


def proving(store: MemoryStore, alice: Principal) -> None:
    """Check the tokens of a server."""
    issued = store.tokens.issue(alice, principal=alice, access="write", label="x", expires_at=None)
    assert_type(issued, IssuedToken)
    assert_type(issued.secret, str)
    assert_type(store.tokens.open_session(issued.token), IssuedToken)
    assert_type(store.tokens.find(issued.secret), Token | None)
    assert_type(store.tokens.all(user=alice), list[Token])
    assert_type(store.tokens.usable(), bool)
    assert_type(store.tokens.revoke(issued.token.id), None)


def plugins(
    store: MemoryStore,
    plugin: object,
    change: Revision,
    place: Callable[[str], FastAPI],
    caller: Callable[[Request], Caller],
) -> None:
    """Check what other programs may add."""
    assert_type(store.plugins, Plugins)
    assert_type(store.plugins.register(plugin, name="mine"), None)
    assert_type(store.plugins.unregister("mine"), None)
    assert_type(store.plugins.names(), list[str])
    assert_type(store.plugins.vocabularies(), tuple[Vocabulary, ...])
    assert_type(store.plugins.opened(store), None)
    assert_type(store.plugins.add_routes(place, store, caller), None)
    assert_type(store.plugins.listening, bool)
    assert_type(store.plugins.foreign, bool)
    write = Write("global:1", "user:alice", "fact", {"content": "text"})
    assert_type(store.plugins.concerns(write), list[Concern])
    assert_type(store.plugins.admit(write, FACTS), None)
    assert_type(store.plugins.announce([change]), None)


def people(store: MemoryStore) -> None:
    """Check principals and agents."""
    alice = store.principals.user("alice")
    lab = store.principals.group("lab", owner=alice, members=[alice])
    assert_type(alice, Principal)
    assert_type(lab, Principal)
    assert_type((alice.id, alice.kind, alice.name), tuple[int, PrincipalKind, str])
    assert_type(store.principals.get(1), Principal)
    assert_type(store.principals.known(alice), Principal)
    assert_type(store.principals.everyone(), list[Principal])
    assert_type(store.principals.visible_to(alice), list[Principal])
    assert_type(store.principals.roles(lab), dict[Principal, Role])
    assert_type(store.principals.add_member(lab, alice, role="admin"), None)
    assert_type(store.principals.remove_member(lab, alice), None)
    writer = store.agents.create("writer", owner=alice)
    assert_type(writer, Agent)
    assert_type(store.agents.ensure("writer", owner=alice), Agent)
    assert_type(store.agents.get("writer", owner=alice), Agent)
    assert_type(store.agents.owned_by(alice), list[Agent])
    assert_type(store.agents.seen_by(3, alice), Agent)
    assert_type(store.agents.transfer(writer, to=lab, acting_as=alice), Agent)
    assert_type(store.scope(acting_as=alice, principal=lab, agent=writer), Scope)


def reading(shelf: ScopeReader, id: UUID) -> None:
    """Check the verbs that read."""
    page = shelf.list(type="plan", limit=10, cursor=None)
    assert_type(page, Page)
    assert_type((page.total, page.next_cursor), tuple[int, str | None])
    assert_type(page[0], MemoryHead)
    assert_type(page[:2], tuple[MemoryHead, ...])
    assert_type([head.name for head in page], list[str])
    assert_type(shelf.counts(), dict[str, int])
    whole = shelf.read(type="plan", limit=3, cursor="x")
    assert_type(whole.memories, tuple[Memory, ...])
    assert_type(whole.next_cursor, str | None)
    recent = shelf.recent(type="plan", containing="word", limit=3, skip=3)
    assert_type((recent.memories, recent.total), tuple[tuple[Memory, ...], int])
    assert_type(shelf.inspect("plan", content="body", tags=["a"]), Sequence[Concern])
    assert_type(shelf.enabled, bool)
    assert_type(shelf.get("n", "plan"), Memory)
    assert_type(shelf.get_by_id(id), Memory)
    assert_type(shelf.get_by_id("00000000-0000-0000-0000-000000000000"), Memory)
    history = shelf.history("n", "plan", limit=3)
    assert_type(history, History)
    assert_type(shelf.history(ids=[history[0].memory_id or ""]), History)
    assert_type(history[0], Revision)
    assert_type(history[0].memory_id, UUID | None)
    assert_type(history.next_cursor, str | None)
    assert_type(shelf.deleted(limit=3), History)
    assert_type(shelf.changes(since=7, limit=3), History)
    assert_type(shelf.vocabularies, tuple[Vocabulary, ...])
    assert_type((shelf.key, shelf.kind), tuple[str, ScopeKind])
    assert_type((shelf.caller, shelf.principal), tuple[Principal, Principal])
    assert_type(shelf.agent, Agent | None)


def injecting(shelf: Scope, reader: ScopeReader, id: UUID) -> None:
    """Check that a shelf is both sides, and that each side has the verbs of that side alone."""
    reading: MemoryReader = shelf
    assert_type(reading.get("n", "plan"), Memory)
    reading.save("n", "plan", "x")  # type: ignore[attr-defined]
    reading = reader
    writing: MemoryWriter = shelf
    assert_type(writing.save("n", "plan", "x"), Saved)
    writing.get_by_id(id)  # type: ignore[attr-defined]
    writing = reader  # type: ignore[assignment]


def searching(shelf: ScopeReader) -> None:
    """Check what finds and what waits."""
    hits = shelf.search("word", type="plan", tags=["a"], limit=3)
    assert_type(hits, Hits)
    assert_type((hits.total, hits.next_cursor), tuple[int, str | None])
    assert_type(hits[0], Hit)
    assert_type((hits[0].memory, hits[0].score), tuple[MemoryHead, float])
    recall = shelf.relevant_for_prompt("word", 8, 1200, type="plan", max_chars_each=300)
    assert_type(recall, Recall)
    assert_type(recall.as_context(), str)
    assert_type((recall.items[0].line, recall.text), tuple[str, str])
    watch = shelf.watch(since=0, pause=1)
    assert_type(next(watch), History)
    assert_type(watch.close(), None)


def writing(shelf: Scope, id: UUID, moment: datetime) -> None:
    """Check the verbs that write, each optional argument once."""
    assert_type(shelf.read_only(), ScopeReader)
    assert_type(shelf.once("key"), Scope)
    assert_type(shelf.once("key").clear(), int)
    saved = shelf.save(
        "n",
        "plan",
        "body",
        summary=DERIVED,
        order=1,
        tags=["a"],
        pinned=True,
        expires_at=moment,
        untrusted=False,
        expected_version=1,
        new_order=0,
    )
    assert_type(saved, Saved)
    assert_type((saved.memory, saved.created), tuple[Memory, bool])
    assert_type(shelf.create("n", "plan", summary=None, tags=("a",), expires_at=None), Memory)
    assert_type(shelf.update(id, name="m", type="context", summary="One", order=2), Memory)
    assert_type(shelf.replace("n", "plan", find="a", new_text="b", expected_version=1), Memory)
    assert_type(shelf.replace_by_id(id, edits=[Edit("a", "b")]), Memory)
    assert_type(shelf.delete("n", "plan", expected_version=1), Memory)
    assert_type(shelf.delete_by_id(id), Memory)
    assert_type(shelf.clear(type="plan"), int)
    assert_type(shelf.move(id, before=id), Memory)
    assert_type(shelf.move(str(id), after=str(id)), Memory)
    assert_type(shelf.reorder([id, str(id)], unknown="skip"), None)
    assert_type(shelf.restore(id, version=1), Memory)
    assert_type(shelf.undo(seq=1), History)
    assert_type(shelf.transfer(id, to=shelf, expected_version=1), Memory)
    picture = shelf.attach(b"", name="plot.png", media_type="image/png")
    assert_type(picture, AttachmentHead)
    assert_type((picture.id, picture.markdown, picture.size), tuple[UUID, str, int])
    assert_type(shelf.attachment(picture.id), Attachment)
    assert_type(shelf.attachment(str(id)).data_url, str)
    assert_type(shelf.attachments(unused=True), tuple[AttachmentHead, ...])
    assert_type(shelf.detach(picture.id), None)
    draft = shelf.keep_draft("k", type="plan", content="", memory_id=id, version=1)
    assert_type(draft, EditorDraft)
    assert_type((draft.memory_id, draft.content), tuple[UUID | None, str])
    assert_type(shelf.drafts(), tuple[EditorDraft, ...])
    assert_type(shelf.drop_draft("k"), None)
    past = single(shelf.vocabularies, {"name": "a", "type": "plan", "content": ""})
    assert_type(shelf.adopt([past], conflict="rename", dry_run=True), list[Adopted])
    assert_type(shelf.switch(on=False), None)
    assert_type(shelf.redact("secret"), int)
    assert_type(shelf.prune(keep=20, before=datetime.now(UTC)), int)


def values(memory: Memory) -> None:
    """Check the fields of a memory."""
    assert_type((memory.id, memory.scope, memory.type), tuple[UUID, ScopeKind, str])
    assert_type((memory.principal_id, memory.agent_id), tuple[int | None, int | None])
    assert_type((memory.name, memory.content, memory.summary), tuple[str, str, str | None])
    assert_type((memory.tags, memory.pinned, memory.order), tuple[tuple[str, ...], bool, int])
    assert_type((memory.version, memory.size, memory.untrusted), tuple[int, int, bool])
    assert_type((memory.created_at, memory.expires_at), tuple[datetime, datetime | None])


def tools(store: MemoryStore, alice: Principal) -> None:
    """Check the tools."""
    made = MemoryTools(store, acting_as=alice, agent="writer", operations={"memory": ["list"]})
    result = made.call("memory", {"action": "list"}, prompt="List them", approved=True)
    assert_type(result, ToolResult)
    assert_type((result.ok, result.text, result.code), tuple[bool, str, str])
    assert_type(result.approval, Approval | None)
    assert_type(result.data, Mapping[str, object] | None)
    assert_type(made.policy, WishPolicy)
    assert_type(MemoryTools(store, acting_as=alice, policy=APPROVAL), MemoryTools)
    assert_type(APPROVAL.system_prompt, str)
    assert_type(made.schemas(FACT_TOOLS, form="openai-strict"), list[dict[str, object]])
    assert_type(made.shelf("memory"), Scope)
    assert_type(made.definitions(FACT_TOOLS), list[Definition])
    assert_type(made.definitions()[0].written("mcp"), dict[str, object])
    assert_type(made.needs_approval("memory", None), bool)
    assert_type(made.schemas(), list[dict[str, object]])


def approvals(store: MemoryStore, alice: Principal) -> None:
    """Check the calls that wait for a person."""
    policy = ApprovalPolicy({"memory": ["delete", "replace"]}, lasts=timedelta(hours=1))
    assert_type(policy.needs("memory", "replace"), bool)
    made = MemoryTools(store, acting_as=alice, approval=policy, ask=ask_in_terminal)
    assert_type((made.approval, DEFAULT), tuple[ApprovalPolicy, ApprovalPolicy])
    queue = store.approvals
    assert_type(queue, Approvals)
    waiting = queue.list(acting_as=alice, waiting=False, limit=5)
    assert_type(waiting, list[Approval])
    assert_type(waiting[0].id, UUID | None)
    assert_type(queue.count(acting_as=alice), int)
    assert_type(queue.get("id", acting_as=alice), Approval)
    assert_type(queue.grant("id", acting_as=alice), ToolResult)
    assert_type(queue.refuse("id", acting_as=alice), Approval)
    call = Call("memory", Arguments({"action": "list"}), caller=alice, principal=alice)
    assert_type(queue.ask(call, lasts=policy.lasts), Approval | Answer)
    assert_type(queue.settle(call), Answer)
    assert_type(queue.wait("id", acting_as=alice, timeout=1.5), Approval)


def errors(shelf: Scope) -> None:
    """Check what errors carry."""
    try:
        shelf.save("n", "plan", "x", expected_version=1)
    except EditConflict as conflict:
        assert_type(conflict.current, Memory | None)
        assert_type(conflict.expected_version, int)
    except InvalidInput as refusal:
        assert_type(refusal.field, str | None)
    except MemoriesError as error:
        assert_type((error.code, error.message, error.suggestion), tuple[str, str, str])
