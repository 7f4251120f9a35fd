"""What stored text can say to an agent: no row, heading or frame but those that are there."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from forgeries import FORGERIES, lines
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories_sdk import InvalidInput, MemoriesError, MemoryStore, MemoryTools, Principal, Scope
from memories_sdk.document_tools import UNTRUSTED_NOTE
from memories_sdk.memory import UNTRUSTED
from memories_sdk.search.recall import LEAD

TEXTS = st.sampled_from(FORGERIES) | st.text(
    st.sampled_from('ab \n\r\t\x0b\x0c\x1c\x85\u2028\u2029[]()#*>-—|`"\\/{}:') | st.characters(),
    max_size=40,
)
MEMORIES = st.lists(
    st.fixed_dictionaries(
        {"name": TEXTS, "content": TEXTS, "summary": TEXTS | st.none(), "untrusted": st.booleans()}
    ),
    max_size=4,
)


@pytest.fixture
def tools(store: MemoryStore, alice: Principal) -> MemoryTools:
    """The tools of an agent that alice runs."""
    return MemoryTools(store, acting_as=alice)


def fill(shelf: Scope, wanted: list[dict[str, object]], type: str) -> None:
    """Store what the rules let in."""
    shelf.clear()
    for fields in wanted:
        name, content = fields["name"], fields["content"]
        summary = {} if fields["summary"] is None else {"summary": fields["summary"]}
        with suppress(InvalidInput):
            shelf.save(name, type, content, untrusted=fields["untrusted"], **summary)


@pytest.mark.parametrize("engine", ["sqlite-memory"])
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=MEMORIES)
def test_no_text_forges_a_row_of_a_list(
    shelf: Scope, tools: MemoryTools, wanted: list[dict[str, object]]
) -> None:
    """A list has its heading and one line for each memory, whatever names and summaries hold."""
    fill(shelf, wanted, "plan")
    heads = shelf.list()
    text = tools.call("global_memory", {"action": "list"}).text
    if not heads.total:
        assert text == "No memories found in global scope."
        return
    first, *rows = lines(text)
    assert first == f"Found {heads.total} memory(ies) in global scope:"
    assert rows == [f"- {head}" for head in heads]
    for row, head in zip(rows, heads, strict=True):
        assert row.startswith(f"- {UNTRUSTED} [" if head.untrusted else "- [")


@pytest.mark.parametrize("engine", ["sqlite-memory"])
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=MEMORIES, query=st.sampled_from(["obey", "plan body", "a", "context"]))
def test_no_text_forges_a_match(
    store: MemoryStore, shelf: Scope, wanted: list[dict[str, object]], query: str
) -> None:
    """A search has one line for each match, as in a list, and quotes what matches below it."""
    fill(shelf, wanted, "plan")
    searching = MemoryTools(store, acting_as=shelf.caller, operations={"global_memory": ["search"]})
    found = searching.call("global_memory", {"action": "search", "query": query})
    _, *rows = lines(found.text)
    assert [row for row in rows if not row.startswith("  > ")] == [
        f"- {hit.memory}" for hit in shelf.search(query)
    ]


@pytest.mark.parametrize("engine", ["sqlite-memory"])
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=MEMORIES)
def test_no_body_forges_the_heading_it_is_shown_under(
    shelf: Scope, tools: MemoryTools, wanted: list[dict[str, object]]
) -> None:
    """What get shows reads back as exactly that memory; an untrusted body stays quoted."""
    fill(shelf, wanted, "plan")
    for head in shelf.list():
        memory = shelf.get_by_id(head.id)
        call = {"action": "get", "name": memory.name, "type": "plan"}
        result = tools.call("global_memory", call)
        heading, *rest = result.text.split("\n")
        assert heading == f"# {memory.name} (plan)"
        assert len(lines(heading)) == 1
        if memory.untrusted:
            assert rest.pop(0) == UNTRUSTED_NOTE
        if memory.summary:
            assert rest.pop(0) == f"*Summary: {memory.summary}*"
            assert len(lines(memory.summary)) == 1
        assert rest.pop(0) == ""
        body = "\n".join(rest)
        if memory.untrusted:
            assert all(line.startswith("> ") for line in body.splitlines())
            body = "".join(line[2:] for line in body.splitlines(keepends=True))
        assert body == memory.content
        assert result.data["untrusted"] == memory.untrusted
        assert result.data["changed_by"] == "user:alice"


@pytest.mark.parametrize("engine", ["sqlite-memory"])
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=MEMORIES)
def test_no_fact_forges_another(
    shelf: Scope, tools: MemoryTools, wanted: list[dict[str, object]]
) -> None:
    """Each line of list_memory is one JSON object that says what is stored."""
    fill(shelf, wanted, "fact")
    first, *rows = lines(tools.call("list_memory").text)
    assert first == "Memory listed."
    said = [json.loads(row) for row in rows]
    assert [(it["key"], it["text"], it.get("untrusted", False)) for it in said] == [
        (it.name, it.content, it.untrusted) for it in shelf.recent(type="fact").memories
    ]


@pytest.mark.parametrize("engine", ["sqlite-memory"])
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=MEMORIES)
def test_no_text_forges_an_entry_of_a_prompt(shelf: Scope, wanted: list[dict[str, object]]) -> None:
    """The block of a recall is one line that decodes to one entry for each memory in it."""
    fill(shelf, wanted, "context")
    for head in shelf.list():
        shelf.update(head.id, pinned=True)
    recall = shelf.relevant_for_prompt("obey", max_chars=100_000)
    context = recall.as_context()
    assert len(lines(context)) == 1
    assert context.count(LEAD) == (1 if recall.items else 0)
    entries = json.loads(context.removeprefix(LEAD) or "[]")
    assert entries == [item.line for item in recall.items]
    for entry, item in zip(entries, recall.items, strict=True):
        label = f"{UNTRUSTED} " if item.memory.untrusted else ""
        assert entry.startswith(f"{label}[context/{item.memory.name}] ")


@pytest.mark.parametrize("text", FORGERIES)
@pytest.mark.parametrize("field", ["name", "type", "content", "find", "new_text", "action"])
def test_no_argument_forges_a_second_answer(
    shelf: Scope, tools: MemoryTools, field: str, text: str
) -> None:
    """What a call is refused or confirmed with is one line, though it names what was sent."""
    shelf.save("n", "plan", "a")
    for action in ("save", "replace", "delete", "get"):
        call = {"action": action, "name": "n", "type": "plan", "find": "a", "new_text": "b"}
        result = tools.call("global_memory", call | {field: text})
        if result.ok and action == "get":
            continue
        assert len(lines(result.text)) == 1, (action, result.text)


def test_a_reader_marks_a_memory_and_takes_the_mark_back(shelf: Scope, store: MemoryStore) -> None:
    """The mark is a field like others: versioned, kept by edits, undone by undo."""
    memory = shelf.create("n", "plan", "obey me")
    assert not memory.untrusted
    marked = shelf.update(memory.id, untrusted=True)
    assert (marked.untrusted, marked.version) == (True, 2)
    assert shelf.list()[0].untrusted
    assert shelf.replace("n", "plan", find="obey", new_text="heed").untrusted
    assert shelf.save("n", "plan", "new").memory.untrusted
    assert store.verify() == []
    assert not shelf.restore(memory.id, version=1).untrusted
    shelf.undo()
    assert shelf.get("n", "plan").untrusted
    shelf.delete("n", "plan")
    assert shelf.restore(memory.id).untrusted
    assert not shelf.update(memory.id, untrusted=False).untrusted
    assert store.verify() == []


@pytest.mark.parametrize("value", [1, None, "yes"], ids=repr)
def test_the_mark_is_true_or_false(shelf: Scope, value: object) -> None:
    """What is no truth value is refused by name."""
    with pytest.raises(InvalidInput, match="untrusted must be True or False"):
        shelf.save("n", "plan", "x", untrusted=value)
    assert shelf.list().total == 0


def test_no_tool_takes_the_mark_away(shelf: Scope, tools: MemoryTools) -> None:
    """An agent can neither trust what a person does not, nor launder it by saving it again."""
    shelf.save("n", "plan", "obey", untrusted=True)
    shelf.save("f", "fact", "obey", untrusted=True)
    call = {"name": "n", "type": "plan", "content": "x", "find": "obey", "new_text": "x"}
    for action in ("save", "replace"):
        tools.call("global_memory", call | {"action": action, "untrusted": False})
    tools.call(
        "remember_memory",
        {"type": "fact", "key": "f", "value": "y", "untrusted": False},
        prompt="remember this",
        approved=True,
    )
    assert shelf.get("n", "plan").untrusted
    assert shelf.get("f", "fact").untrusted


def test_what_a_seal_held_before_the_mark_holds_still(shelf: Scope, store: MemoryStore) -> None:
    """A mark set behind the store's back is found; a store without marks verifies as ever."""
    shelf.create("n", "plan", "x")
    assert store.verify() == []
    with store._database.write() as connection:
        connection.execute("UPDATE memories SET untrusted = 1")
    assert [it.damage for it in store.verify()] == ["state"]


def test_errors_are_one_line_too(shelf: Scope) -> None:
    """An error names what was sent and forges no second line for whoever logs it."""
    for text in FORGERIES:
        for call in (
            lambda text=text: shelf.get(text, "plan"),
            lambda text=text: shelf.get("n", text),
            lambda text=text: shelf.create("n", "plan", "x", summary=text),
        ):
            try:
                call()
            except MemoriesError as error:
                assert len(lines(str(error))) == 1  # noqa: PT017 -- most of them raise, not all
