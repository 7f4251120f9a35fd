"""Spans of verbs and tool calls: what they say, and that they never say what a memory says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from inspect import isfunction

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from memories_sdk import Edit, MemoriesError, MemoryStore, MemoryTools, Principal, Scope, telemetry
from memories_sdk.approvals import ApprovalPolicy
from memories_sdk.errors import MissingExtra, NotFound
from memories_sdk.policy import APPROVAL

MARK = "canary7731"

pytestmark = pytest.mark.engines("sqlite-memory")


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """What was spanned while a test ran."""
    provider = TracerProvider()
    kept = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    telemetry.instrument(tracer_provider=provider)
    yield kept
    telemetry.uninstrument()
    provider.shutdown()


def said(span: ReadableSpan) -> dict[str, object]:
    """Return the attributes of a span by the last part of their names."""
    return {name.rpartition(".")[2]: value for name, value in span.attributes.items()}


def test_a_verb_is_one_span(spans: InMemorySpanExporter, shelf: Scope) -> None:
    """Its name, the kind of shelf, what came of it, how many; verbs that it is made of are in."""
    shelf.save("n", "plan", "x")
    shelf.save("m", "plan", "y")
    assert len(shelf.list()) == 2
    assert shelf.clear() == 2
    assert [(it.name, said(it)) for it in spans.get_finished_spans()] == [
        (f"memories {verb}", {"scope": "global", "operation": verb, "outcome": "ok"} | count)
        for verb, count in [
            ("save", {"count": 1}),
            ("save", {"count": 1}),
            ("list", {"count": 2}),
            ("clear", {"count": 2}),
        ]
    ]


def test_a_refusal_leaves_its_code(spans: InMemorySpanExporter, shelf: Scope) -> None:
    """The span is marked as an error, without a word of it and without an event."""
    with pytest.raises(NotFound):
        shelf.get(MARK, "plan")
    (span,) = spans.get_finished_spans()
    assert said(span) == {"scope": "global", "operation": "get", "outcome": "not_found"}
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert span.events == ()


def test_what_was_not_foreseen_is_internal(spans: InMemorySpanExporter, shelf: Scope) -> None:
    """The words of a foreign error stay out too."""
    with pytest.raises(TypeError):
        shelf.get()
    (span,) = spans.get_finished_spans()
    assert said(span)["outcome"] == "internal"
    assert span.events == ()


def test_a_tool_call_is_a_span_around_its_verb(
    spans: InMemorySpanExporter, store: MemoryStore, alice: Principal
) -> None:
    """Which tool, which operation, the code of the result and its length."""
    store.agents.create("writer", owner=alice)
    tools = MemoryTools(store, acting_as=alice, agent="writer")
    result = tools.call("memory", '{"action": "save", "name": "n", "type": "plan", "content": ""}')
    *verbs, call = spans.get_finished_spans()
    assert {it.parent.span_id for it in verbs} == {call.context.span_id}
    assert "memories save" in [it.name for it in verbs]
    assert call.name == "memories tool memory"
    assert said(call) == {
        "scope": "agent",
        "operation": "save",
        "outcome": "ok",
        "characters": len(result.text),
    }


@pytest.mark.parametrize(
    ("call", "operation", "outcome"),
    [
        (("memory", {"action": "get", "name": MARK, "type": "plan"}), "get", "not_found"),
        (("memory", {"action": MARK}), "unknown", "unknown_action"),
        (("memory", f"{{{MARK}"), "unknown", "invalid"),
        ((MARK, {}), "unknown", "unknown_tool"),
        (("clear_memory",), "clear", "openwp_memory_explicit_required"),
    ],
)
def test_a_refused_call_leaves_its_code(
    spans: InMemorySpanExporter,
    store: MemoryStore,
    alice: Principal,
    call: tuple[object, ...],
    operation: str,
    outcome: str,
) -> None:
    """What a model made up for a tool or an action is not repeated."""
    store.agents.create("writer", owner=alice)
    MemoryTools(store, acting_as=alice, agent="writer").call(*call)
    span = spans.get_finished_spans()[-1]
    assert (said(span)["operation"], said(span)["outcome"]) == (operation, outcome)


def use_every_verb(shelf: Scope) -> None:
    """Use every verb of a shelf, with the mark in every field."""
    write_and_read(shelf)
    keep_beside(shelf)
    take_away(shelf)
    for refused in (lambda: shelf.get(f"missing {MARK}", "plan"), lambda: shelf.list(type=MARK)):
        with pytest.raises(MemoriesError, match=MARK):
            refused()


def write_and_read(shelf: Scope) -> None:
    """Store two memories, change them, find them."""
    fields = {"content": f"body {MARK}", "summary": f"summary {MARK}", "tags": [f"tag {MARK}"]}
    memory = shelf.save(f"name {MARK}", "plan", **fields).memory
    other = shelf.create(f"other {MARK}", "plan", **fields)
    shelf.update(memory.id, **fields)
    shelf.replace(memory.name, "plan", find=f"body {MARK}", new_text=f"new {MARK}")
    shelf.replace_by_id(memory.id, edits=[Edit(f"new {MARK}", f"newer {MARK}")])
    shelf.move(other.id, before=memory.id)
    shelf.reorder([memory.id, other.id])
    shelf.search(MARK, tags=[f"tag {MARK}"])
    shelf.relevant_for_prompt(f"What is {MARK}?")
    shelf.inspect("plan", content=MARK)
    shelf.get(memory.name, "plan")
    shelf.get_by_id(memory.id)
    for verb in (shelf.read, shelf.recent, shelf.counts, shelf.history, shelf.changes):
        verb()


def keep_beside(shelf: Scope) -> None:
    """Keep an unsaved text and a picture."""
    shelf.keep_draft(f"draft-{MARK}", type="plan", content=f"draft {MARK}")
    shelf.drafts()
    shelf.drop_draft(f"draft-{MARK}")
    picture = shelf.attach(PIXEL, name=f"{MARK}.gif")
    shelf.attachment(picture.id)
    shelf.attachments()
    shelf.detach(picture.id)


def take_away(shelf: Scope) -> None:
    """Delete what is there, take that back, and take the past away."""
    memory = shelf.get(f"name {MARK}", "plan")
    shelf.delete(memory.name, "plan")
    shelf.deleted()
    shelf.restore(memory.id)
    shelf.delete_by_id(memory.id)
    shelf.undo()
    shelf.redact(f"newer {MARK}")
    shelf.prune(before=datetime.now(UTC) - timedelta(days=1))
    shelf.switch(on=True)
    shelf.adopt([])
    shelf.clear()


def everything(store: MemoryStore) -> None:
    """Use every verb and every tool, refused and carried out, with the mark in every field."""
    user = store.principals.user(f"user {MARK}")
    store.agents.create(f"agent {MARK}", owner=user)
    named = {"acting_as": user, "actor": f"actor {MARK}", "source": f"source {MARK}"}
    shelf = store.scope(**named)
    own = store.scope(**named, agent=f"agent {MARK}")
    use_every_verb(shelf)
    use_every_verb(own)
    own.transfer(own.save(f"moved {MARK}", "plan", MARK).memory.id, to=shelf)
    call_every_tool(store, user)


PIXEL = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,"
    b"\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)


def call_every_tool(store: MemoryStore, user: Principal) -> None:
    """Call every tool, with the mark in every argument."""
    tools = MemoryTools(
        store,
        acting_as=user,
        agent=f"agent {MARK}",
        approval=ApprovalPolicy(),
        policy=APPROVAL,
        ask=bool,
        source=MARK,
    )
    document = {"name": f"name {MARK}", "type": "plan", "content": MARK, "tags": [MARK]}
    edit = {"find": MARK, "new_text": f"new {MARK}"}
    for tool in ("memory", "global_memory"):
        for action in ("save", "list", "get", "replace", "delete", MARK):
            arguments = {"action": action, **document, **edit, MARK: MARK}
            tools.call(tool, arguments, prompt=f"Remember {MARK}", operation=f"{action} {MARK}")
    fact = {"type": "fact", "key": MARK, "value": MARK, "tags": [MARK], "query": MARK}
    for tool in ("remember_memory", "list_memory", "forget_memory", "clear_memory", MARK):
        tools.call(tool, fact, prompt=f"Please remember {MARK}")


def test_no_span_carries_a_text_of_a_memory(
    spans: InMemorySpanExporter, store: MemoryStore
) -> None:
    """The mark stands in names, bodies, summaries, tags, queries, prompts and keys; in no span."""
    everything(store)
    finished = spans.get_finished_spans()
    assert [it.name for it in finished if MARK in it.to_json()] == []
    words = {value for it in finished for value in it.attributes.values() if type(value) is str}
    assert words <= {it.name.split(" ")[-1] for it in finished} | {
        *("global", "agent", "ok", "unknown", "not_found", "unknown_type"),
        *("unknown_action", "unknown_tool", "remember", "forget"),
    }
    spanned = {it.name.removeprefix("memories ") for it in finished if " tool " not in it.name}
    verbs = {name for kind in Scope.__mro__ for name, it in vars(kind).items() if isfunction(it)}
    public = {name for name in verbs if name[0] != "_"}
    assert spanned == public - {"read_only", "once", "watch"}


def test_a_trial_for_an_approval_is_no_span(
    spans: InMemorySpanExporter, store: MemoryStore, shelf: Scope, alice: Principal
) -> None:
    """Nothing was deleted: the call that waits is one span, and the granted call is another."""
    shelf.save("n", "plan", "x")
    tools = MemoryTools(store, acting_as=alice)
    waiting = tools.call("global_memory", {"action": "delete", "name": "n", "type": "plan"})
    store.approvals.grant(waiting.approval.id, acting_as=alice)
    assert [(it.name, said(it)["outcome"]) for it in spans.get_finished_spans()[1:]] == [
        ("memories tool global_memory", "approval_required"),
        ("memories delete", "ok"),
    ]


def test_a_store_behind_a_server_has_spans_on_both_sides(
    spans: InMemorySpanExporter, store: MemoryStore, alice: Principal, address: str
) -> None:
    """The verb of the caller is one span, though its answer is made of others there."""
    secret = store.tokens.issue(alice, access="write").secret
    with MemoryStore(address, token=secret) as far:
        far.scope(acting_as=alice).save("n", "plan", "x")
    assert [it.name for it in spans.get_finished_spans()].count("memories save") == 2


def test_twice_is_once_and_taken_away_nothing_is_left(shelf: Scope) -> None:
    """Verbs and tools are the very functions that they were."""
    before = Scope.save, MemoryTools.call
    telemetry.instrument()
    traced = Scope.save
    telemetry.instrument()
    assert Scope.save is traced is not before[0]
    telemetry.uninstrument()
    telemetry.uninstrument()
    assert (Scope.save, MemoryTools.call) == before
    assert shelf.save("n", "plan", "x").created


def test_nothing_of_it_is_loaded_until_it_is_asked_for() -> None:
    """A program that wants no spans imports no tracing."""
    program = (
        "import sys; from memories_sdk import MemoryStore, MemoryTools\n"
        "with MemoryStore(':memory:') as store:\n"
        "    user = store.principals.user('alice')\n"
        "    store.scope(acting_as=user).save('n', 'plan', 'x')\n"
        "    MemoryTools(store, acting_as=user).call('global_memory')\n"
        "print([it for it in sys.modules if 'opentelemetry' in it or it.endswith('telemetry')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout == "[]\n"


def test_without_the_extra_it_names_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One clear error."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "memories_sdk.telemetry")
    with pytest.raises(MissingExtra, match=r'pip install "memories-sdk\[telemetry\]"'):
        __import__("memories_sdk.telemetry")
