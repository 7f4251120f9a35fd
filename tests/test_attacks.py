"""The recorded attacks: each has a test here or elsewhere, or a written reason.

What an attack sends is read from the shared material; the list of answers is our own.
"""

from __future__ import annotations

import ast
import copy
import json
import logging
import pickle
import re
import sqlite3
import subprocess
import sys
import tomllib
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from uuid6 import UUID

from memories_sdk import (
    InvalidInput,
    MemoriesError,
    MemoryStore,
    MemoryTools,
    NotFound,
    Principal,
    Scope,
)
from memories_sdk.errors import AccessDenied, SchemaMismatch, TooLong
from memories_sdk.markdown import render_safe

if TYPE_CHECKING:
    from conftest import MakeStore

ROOT = Path(__file__).parent.parent
ANSWERS = tomllib.loads((ROOT / "tests" / "data" / "attacks.toml").read_text("utf-8"))
CANARY = "canary-4711"
ACCESS = (
    *("idor-", "group-", "http-", "privacy-06"),
    *("search-06", "search-07", "search-08", "search-15"),
)
"""Attacks on whose memories somebody reaches, by the beginning of their ids."""
ON_A_LINE = ("tests/test_server_wire.py::", "tests/integrations/test_mcp.py::")
"""Tests that talk to a running server too, with what no client library would send."""


@pytest.fixture
def tools(store: MemoryStore, alice: Principal) -> MemoryTools:
    """The tools of an agent that alice runs."""
    return MemoryTools(store, acting_as=alice)


@pytest.fixture
def attacks(shared: Path) -> dict[str, dict]:
    """The recorded attacks, by id."""
    found = json.loads((shared / "security" / "attacks.json").read_text("utf-8"))["items"]
    assert found
    return {each["id"]: each for each in found}


def strings(value: object) -> list[str]:
    """Return all texts of an attack's parameters, at any depth."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings(each)]
    return [text for each in value for text in strings(each)] if isinstance(value, list) else []


def named_tests(path: Path) -> set[str]:
    """Return the names of the tests of a file, be it Python or TypeScript."""
    if path.suffix == ".py":
        tree = ast.parse(path.read_text("utf-8"))
        return {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    return set(path.read_text("utf-8").split('"')[1::2])


def test_every_attack_is_answered(attacks: dict[str, dict]) -> None:
    """A recorded attack without a test or a reason fails here, and so does an answer to none."""
    assert set(ANSWERS) == set(attacks)


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_exists(name: str) -> None:
    """The test that an answer names is there; a reason says something."""
    answer = ANSWERS[name]
    assert answer.keys() <= {"tests", "why"}
    assert answer.keys()
    assert len(answer.get("why", "x" * 30)) >= 30
    for each in answer.get("tests", ()):
        file, _, test = each.partition("::")
        assert test in named_tests(ROOT / file), each


def test_every_attack_on_access_is_made_over_http(attacks: dict[str, dict]) -> None:
    """Each has a test that talks to a running server; the one beside all others names it."""
    recorded = [id for id in attacks if id.startswith(ACCESS)]
    assert len(recorded) > 30
    for id in recorded:
        tests = ANSWERS[id].get("tests", ())
        area, _, number = id.partition("-")
        named = rf"tests/test_server_attacks\.py::test_{area}_([0-9]+_)*{number}_"
        assert any(each.startswith(ON_A_LINE) or re.match(named, each) for each in tests), id


def test_every_promise_names_tests_that_exist() -> None:
    """Each promise of SECURITY.md has tests below it, and each of those is there."""
    promised = (ROOT / "SECURITY.md").read_text("utf-8").partition("## What is promised")[2]
    promises = re.split(
        r"^\*\*(?=[A-Z][a-z]+\.\*\* )", promised.partition("\n## ")[0], flags=re.MULTILINE
    )
    assert len(promises) > 7
    for promise in promises[1:]:
        named = re.findall(r"^- `(tests/\S+)::(\w+)`$", promise, re.MULTILINE)
        assert len(named) >= 2, promise
        for file, test in named:
            assert test in named_tests(ROOT / file), test


# Names and texts -----------------------------------------------------------------------------


def test_hostile_names_are_refused_or_kept_whole(
    shelf: Scope, tools: MemoryTools, attacks: dict[str, dict]
) -> None:
    """Each name is refused by kind, or every verb finds it and every answer is one line."""
    texts = [
        text
        for id, attack in attacks.items()
        if id.startswith(("names-", "unique-", "search-11", "approval-08", "files-02"))
        for text in strings(attack["params"])
    ]
    assert len(texts) > 60
    for text in texts:
        try:
            memory = shelf.save(text, "plan", f"body of {CANARY}").memory
        except InvalidInput:
            continue
        assert shelf.get(text, "plan").id == memory.id
        assert shelf.search(text).total <= shelf.list().total
        assert shelf.replace(text, "plan", find="body", new_text="text").name == memory.name
        shelf.reorder([memory.id])
        for call in ({"action": "list"}, {"action": "delete", "name": text, "type": "plan"}):
            answer = tools.call("global_memory", call).text
            assert len(answer.splitlines()) == (1 if call["action"] == "delete" else 2)
        shelf.delete(text, "plan")


@pytest.mark.parametrize("name", ["\ufdd0", "a\uffff", "\U0001fffe"])
def test_noncharacters_are_no_names(shelf: Scope, name: str) -> None:
    """A code point that no text holds is refused, and a private one is a name."""
    with pytest.raises(InvalidInput, match="cannot be shown"):
        shelf.save(name, "plan", "x")
    assert shelf.save("\ue000", "plan", "x").created


def test_look_alikes_are_names_of_their_own(shelf: Scope, attacks: dict[str, dict]) -> None:
    """Names compare by code point after NFC: no engine and no case joins two of them."""
    for id, count in {"unique-07": 4, "names-07": 4, "names-05": 4, "names-10": 9}.items():
        names = strings(attacks[id]["params"])
        for name in names:
            shelf.save(name, "context", name)
        assert shelf.list().total == count, id
        assert [shelf.get(it, "context").content.strip() for it in names[:1]] == [names[0]]
        shelf.clear()


def test_separators_in_names_join_no_two_shelves(
    store: MemoryStore, alice: Principal, attacks: dict[str, dict]
) -> None:
    """Agent and name are two columns: no sign between them can be written into either."""
    for number, values in enumerate(attacks["unique-04"]["params"]["pairs"]):
        pairs = [values[:2], values[2:]]
        try:
            for agent, name in pairs:
                store.agents.ensure(f"{number} {agent}", owner=alice)
                shelf = store.scope(acting_as=alice, agent=f"{number} {agent}")
                shelf.save(name, "plan", f"{agent} and {name}")
        except InvalidInput:
            continue
        for agent, name in pairs:
            shelf = store.scope(acting_as=alice, agent=f"{number} {agent}")
            assert shelf.get(name, "plan").content == f"{agent} and {name}"
            assert shelf.list().total == 1


def test_a_body_of_many_megabytes_is_refused_within_bounded_memory(shelf: Scope) -> None:
    """What is over the limit is measured and refused, not copied again and again."""
    body = "x" * 10_000_000
    tracemalloc.start()
    with pytest.raises(TooLong):
        shelf.save("n", "plan", body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * len(body)
    assert shelf.list().total == 0


@pytest.mark.parametrize("body", ["\n" * (1 << 20), "x" * (1 << 20), "# a\n" * (1 << 18)])
def test_the_largest_bodies_of_one_kind_are_saved_listed_found_and_shown(
    shelf: Scope, tools: MemoryTools, body: str
) -> None:
    """Neither lines alone nor one line is more than the verbs can bear; all answers are bounded."""
    shelf.save("n", "plan", body)
    assert shelf.list()[0].size == len(body)
    assert shelf.search("n").total == 1
    assert len(render_safe(body)) <= 1_000_000
    call = {"action": "get", "name": "n", "type": "plan"}
    assert len(tools.call("global_memory", call).text) < 110_000
    assert len(shelf.relevant_for_prompt("n a x").as_context()) <= 1_200


def test_a_name_of_a_megabyte_is_refused_unread(shelf: Scope) -> None:
    """The rules of names cost no more than the length of what is sent."""
    for type in ("plan", "fact"):
        with pytest.raises(TooLong):
            shelf.save("n" * (1 << 20), type, "x")
    with pytest.raises(TooLong):
        shelf.save("n", "plan", "x", summary="s " * (1 << 19))


# Tools ---------------------------------------------------------------------------------------


def test_no_argument_is_an_approval(
    shelf: Scope, tools: MemoryTools, attacks: dict[str, dict]
) -> None:
    """Consent comes from the host alone, whatever a model calls it."""
    shelf.save("n", "plan", "x")
    call = {"action": "delete", "name": "n", "type": "plan"}
    for extra in attacks["approval-05"]["params"]["extra"]:
        result = tools.call("global_memory", call | extra)
        assert result.code == "approval_required"
    assert tools.call("global_memory", json.dumps(call | {"approved": True})).approval
    assert shelf.list().total == 1


def test_no_action_but_the_listed_ones(
    shelf: Scope, tools: MemoryTools, attacks: dict[str, dict]
) -> None:
    """Dispatch is a table: near misses and names of methods are told what there is."""
    shelf.save("n", "plan", "x")
    for action in attacks["args-17"]["params"]["values"]:
        call = {"action": action, "name": "n", "type": "plan", "content": "stolen"}
        result = tools.call("global_memory", call, approved=True)
        if action:
            assert result.code == "unknown_action", action
        else:
            assert result.text.startswith("Found 1 memory")
    assert shelf.get("n", "plan").content == "x"


def test_no_key_is_passed_on(tools: MemoryTools, shelf: Scope, attacks: dict[str, dict]) -> None:
    """Keys that mean something to a language are keys like any other."""
    extra = dict.fromkeys([*attacks["args-21"]["params"]["keys"], *map(str, range(50))], "x")
    call = {"action": "save", "name": "n", "type": "plan", "content": "x"}
    assert tools.call("global_memory", extra | call).ok
    assert shelf.list().total == 1


@pytest.mark.parametrize("id", ["args-02", "args-03", "args-06", "args-08"])
def test_no_other_type_is_taken_for_an_argument(
    shelf: Scope, tools: MemoryTools, attacks: dict[str, dict], id: str
) -> None:
    """Every value is stored as what it says, or refused by the name of its field."""
    shelf.save("n", "plan", "old")
    params = attacks[id]["params"]
    field = params["field"]
    call = {"name": "n", "type": "plan", "content": "new", "find": "old", "new_text": "new"}
    action = "replace" if field == "new_text" else "save"
    for kind, value in params["values"].items():
        result = tools.call("global_memory", call | {"action": action, field: value})
        assert result.code != "internal", kind
        if isinstance(value, dict | list | bool):
            assert (result.ok, result.code) == (False, "invalid"), kind
            assert field in result.text
        shelf.save("n", "plan", "old")


@pytest.mark.parametrize("text", ['{"x": 1e999}', '{"x": [-1e999]}', '{"x": {"y": NaN}}'])
def test_a_number_that_is_none_is_refused_anywhere(tools: MemoryTools, text: str) -> None:
    """What came in can be written as JSON again, for any language."""
    assert tools.call("global_memory", text).code == "invalid"


def test_broken_json_is_told_with_its_place(tools: MemoryTools, attacks: dict[str, dict]) -> None:
    """A model learns where its text ends to be JSON; nothing is guessed."""
    for text in [*attacks["args-10"]["params"]["texts"], attacks["args-11"]["params"]["text"]]:
        result = tools.call("global_memory", text)
        assert result.code == "invalid", text
    assert "character 18" in tools.call("global_memory", '{"action":"list",}').text


def test_lone_surrogates_reach_no_engine(shelf: Scope, tools: MemoryTools) -> None:
    """A name with one is refused, a body loses it, a passage with one stands nowhere."""
    call = {"action": "save", "name": "n", "type": "plan", "content": "a\ud800b"}
    assert tools.call("global_memory", call).ok
    assert shelf.get("n", "plan").content == "ab"
    assert tools.call("global_memory", call | {"name": "\udfff"}).code == "invalid"
    sent = call | {"action": "replace", "find": "\ud800", "new_text": ""}
    assert tools.call("global_memory", sent).code == "anchor_not_found"
    assert tools.call("global_memory", json.dumps(call)).ok


def test_answers_of_tools_are_json(shelf: Scope, tools: MemoryTools, attacks: dict) -> None:
    """Whatever was stored, what a host hands on is valid in any language."""
    for number, body in enumerate(strings(attacks["context-01"]["params"])):
        shelf.save(f"n{number}", "plan", f'{body}\u2028\\"</script>\x1f')
        shelf.save(f"n{number}", "fact", f'{body}\u2028\\"</script>\x1f')
    for tool, call in (
        ("global_memory", {"action": "list"}),
        ("global_memory", {"action": "get", "name": "n0", "type": "plan"}),
        ("list_memory", {}),
    ):
        result = tools.call(tool, call)
        whole = {"text": result.text, "data": result.data, "hint": result.hint}
        assert json.loads(json.dumps(whole, allow_nan=False)) == whole


def test_one_body_cannot_fill_a_prompt(shelf: Scope) -> None:
    """A memory that repeats every common word takes its own share and leaves the others theirs."""
    stuffing = "deploy the server note plan memory user write read always " * 200
    shelf.save("stuffing", "context", stuffing)
    for number in range(6):
        shelf.save(f"real{number}", "context", f"deploy the server of site {number} by hand")
    recall = shelf.relevant_for_prompt("how do I deploy the server")
    assert [item.memory.name for item in recall.items if item.shortened] in ([], ["stuffing"])
    assert len({item.memory.name for item in recall.items} - {"stuffing"}) == 6


# Identity ------------------------------------------------------------------------------------


def test_a_cursor_says_only_where(store: MemoryStore, shelf: Scope, bob: Principal) -> None:
    """A cursor of another's list leads to one's own memories and to no other."""
    for number in range(6):
        shelf.create(f"{CANARY}{number}", "plan", "x")
        store.scope(acting_as=bob).create(f"mine{number}", "plan", "x")
    page = store.scope(acting_as=bob).list(cursor=shelf.list(limit=2).next_cursor)
    assert {head.name[:4] for head in page} <= {"mine"}
    assert page.total == 6


def test_ids_cannot_be_guessed_from_their_neighbours(shelf: Scope) -> None:
    """Ids of one moment differ in far more bits than can be tried."""
    ids = [shelf.create(f"n{number}", "plan", "x").id for number in range(200)]
    random = [id.int & ((1 << 62) - 1) for id in ids]
    assert len({each >> 32 for each in random}) == 200
    for id in ids[:20]:
        for near in (-1, 1):
            with pytest.raises(NotFound):
                shelf.get_by_id(UUID(int=id.int + near))


def test_a_thousand_turns_of_three_callers_cross_nowhere(make_store: MakeStore) -> None:
    """Identity is each scope's own: no thread ever reads another principal's text."""
    store = make_store(durability="process")
    users = [store.principals.user(name) for name in ("alice", "bob", "carol")]
    shelves = [store.scope(acting_as=user) for user in users for _ in range(2)]

    def turn(number: int) -> bool:
        shelf = shelves[number % len(shelves)]
        mine = f"{CANARY}-{shelf.caller.name}"
        shelf.save(f"n{number % 7}", "plan", f"{mine} {number}")
        seen = [shelf.get(f"n{number % 7}", "plan").content, shelf.list()[0].summary]
        seen += [hit.passages[0].text for hit in shelf.search("canary")]
        seen.append(shelf.relevant_for_prompt("canary 4711").text)
        foreign = [f"{CANARY}-{user.name}" for user in users if user != shelf.caller]
        return any(each in str(text) for each in foreign for text in seen)

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(turn, range(1_000))) == 0


def test_a_scope_cannot_be_taken_along(shelf: Scope) -> None:
    """Who acts is bound where the scope is made: it is neither pickled nor copied."""
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"store\.scope"):
            take(shelf)


def test_nothing_public_leads_around_the_scope(store: MemoryStore, shelf: Scope) -> None:
    """No attribute without an underscore hands out a connection, a database or a setting."""
    inner = ("database", "engines", "visit", "rows", "shelf", "encryption")
    forbidden = ("sqlite3", "sqlalchemy", *(f"memories_sdk.{name}" for name in inner))
    for thing in (store, shelf, shelf.read_only()):
        for name in dir(thing):
            if name.startswith("_") or callable(getattr(type(thing), name, None)):
                continue
            value = getattr(thing, name)
            home = type(value).__module__
            assert not home.startswith(forbidden), (name, home)


def test_a_freed_agent_id_names_nobody_else(store: MemoryStore, alice: Principal, bob) -> None:
    """An id is never given twice, so an old shelf falls to no new agent."""
    old = store.agents.create("old", owner=alice)
    with store._database.write() as connection:
        connection.execute("DELETE FROM agents WHERE id = :id", {"id": old.id})
    assert store.agents.create("new", owner=bob).id > old.id


def test_an_owner_with_memories_cannot_vanish(store: MemoryStore, shelf: Scope, lab) -> None:
    """The engine refuses to leave a memory without its owner; none falls to everybody."""
    shelf.save("n", "plan", "x")
    with pytest.raises(MemoriesError), store._database.write() as connection:
        connection.execute("DELETE FROM principals WHERE id = :id", {"id": shelf.principal.id})
    assert shelf.get("n", "plan").content == "x"
    assert store.scope(acting_as=shelf.caller, principal=lab).list().total == 0


def test_a_batch_ends_where_the_membership_ends(store: MemoryStore, bob, lab) -> None:
    """Each save is whole: those before the removal stay, those after are refused."""
    team = store.scope(acting_as=bob, principal=lab)
    for number in range(10):
        if number == 5:
            store.principals.remove_member(lab, bob)
        try:
            team.save(f"n{number}", "plan", "x")
        except AccessDenied:
            assert number >= 5
    alice = store.principals.user("alice")
    assert store.scope(acting_as=alice, principal=lab).list().total == 5


def test_two_reorders_at_once_end_as_one_of_them(make_store: MakeStore) -> None:
    """The last one counts whole: no mixture of two orders, no place taken twice."""
    store = make_store(durability="process")
    shelf = store.scope(acting_as=store.principals.user("alice"))
    ids = [shelf.create(f"n{number}", "plan", "x").id for number in range(12)]
    orders = [ids[::-1], ids[6:] + ids[:6]]
    for _ in range(10):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(shelf.reorder, orders))
        assert [head.id for head in shelf.list()] in orders
        assert [head.order for head in shelf.list()] == list(range(1, 13))


# Search --------------------------------------------------------------------------------------


def test_no_sign_of_a_query_means_anything(shelf: Scope, attacks: dict[str, dict]) -> None:
    """Wildcards and operators of any engine are letters like others, or nothing."""
    bodies = ["100% sure", "a%b", "axb", "back\\slash", "under_score", "underscore", "[a-z]", "b"]
    for number, body in enumerate(bodies):
        shelf.save(f"n{number}", "context", body)
    for id in ("search-01", "search-02", "search-09"):
        for query in strings(attacks[id]["params"]):
            shelf.search(query)
            shelf.relevant_for_prompt(query)
            found = shelf.recent(containing=query).memories
            wanted = query.casefold()
            assert {it.content for it in found} == {
                body
                for number, body in enumerate(bodies)
                if wanted in body.casefold() or wanted in f"n{number}"
            }, query


def test_a_query_of_any_length_gets_an_answer(shelf: Scope) -> None:
    """No pattern is too complex, since none is made."""
    shelf.save("n", "context", "%a%a")
    for query in ("%a" * 30_000, "a" * 60_000, "a " * 30_000, "(" * 10_000):
        assert shelf.search(query).total <= 1
        assert len(shelf.relevant_for_prompt(query)) <= 1


# Files, logs and the network -----------------------------------------------------------------


@pytest.mark.parametrize("engine", ["sqlite-file"])
def test_a_file_with_foreign_triggers_is_refused(make_store: MakeStore, tmp_path: Path) -> None:
    """What would act by itself in our tables was not put there by us."""
    make_store().close()
    with closing(sqlite3.connect(tmp_path / "memories.db")) as other:
        other.execute(
            "CREATE TRIGGER leak AFTER INSERT ON memory_bodies BEGIN"
            " DELETE FROM memory_revisions; END"
        )
    with pytest.raises(SchemaMismatch, match="leak"):
        make_store()


def test_nothing_is_logged_of_what_is_stored(
    store: MemoryStore, shelf: Scope, tools: MemoryTools, caplog: pytest.LogCaptureFixture
) -> None:
    """Bodies and queries are in no log, no error and no repr, at any level."""
    caplog.set_level(logging.DEBUG)
    memory = shelf.save("n", "plan", f"a {CANARY}").memory
    shelf.search(CANARY)
    shelf.relevant_for_prompt(CANARY)
    told = [repr(each) for each in (store, shelf, memory, shelf.list(), tools, shelf.history())]
    for call in (
        lambda: shelf.replace("n", "plan", find=CANARY[:3] + "x", new_text=CANARY),
        lambda: shelf.save("n", "plan", f"{CANARY}\0"),
        lambda: shelf.save("n", "plan", CANARY * 100_000),
        lambda: shelf.save("n", "plan", CANARY, expected_version=7),
        lambda: shelf.create("n", "plan", CANARY),
    ):
        with pytest.raises(MemoriesError) as caught:
            call()
        told.append(str(caught.value))
    assert CANARY not in caplog.text
    assert [each for each in told if CANARY in each] == []


def test_a_memory_shows_itself_without_markdown_of_its_own(shelf: Scope) -> None:
    """A notebook is given sanitised HTML and nothing that it would render by its own rules."""
    body = "![x](https://host.example/leak.png) <b onclick=x>$\\href{javascript:x}{y}$"
    memory = shelf.save("<img src=x>", "plan", body, summary="<b>").memory
    assert not hasattr(memory, "_repr_markdown_")
    assert not hasattr(memory, "_repr_latex_")
    for shown in (memory._repr_html_(), shelf.list()._repr_html_(), shelf._repr_html_()):
        assert "<img" not in shown
        assert "<b" not in shown
        assert shown.startswith('<div class="tex2jax_ignore mathjax_ignore">')


AUDIT = """
import sys, tempfile, pathlib
seen = []
def hook(event, arguments):
    if watching and (event.startswith(("socket.connect", "socket.getaddrinfo", "urllib", "ctypes"))
            or event in ("pickle.find_class", "marshal.loads", "os.system", "subprocess.Popen")):
        # What an import reads of compiled modules is no data of ours.
        frame = sys._getframe(1)
        if "importlib" not in frame.f_code.co_filename:
            seen.append((event, frame.f_code.co_filename))
watching = False
sys.addaudithook(hook)
from memories_sdk import MemoryStore, MemoryTools, Edit
from memories_sdk.markdown import render_safe
options = {}
MORE_IMPORTS
watching = True
with MemoryStore(pathlib.Path(tempfile.mkdtemp()) / "m.db", **options) as store:
    alice = store.principals.user("alice")
    shelf = store.scope(acting_as=alice)
    shelf.save("n", "plan", "a b c https://host.example ![x](https://host.example/x.png)")
    shelf.replace("n", "plan", edits=[Edit("a b", "b2 b")])
    shelf.search("b"), shelf.relevant_for_prompt("b c"), shelf.list(), shelf.history()
    tools = MemoryTools(store, acting_as=alice)
    tools.call("global_memory", {"action": "get", "name": "n", "type": "plan"})
    render_safe(shelf.get("n", "plan").content)
    MORE_CALLS
    shelf.clear(), shelf.undo(), shelf.redact("b2"), store.verify()
print(seen)
"""
PARTS = {
    "the store": ("json", "", "pass"),
    "the panel": (
        "anywidget",
        "from memories_sdk.widgets import MemoryPanel",
        """panel = MemoryPanel(store, acting_as=alice)
    known = {"text": "![](https://host.example)", "offset": 0, "limit": 20, "query": "b"}
    answers = {
        verb: panel._answer({"id": "x", "verb": verb, "args": {
            name: known.get(name, id) for name in [*each._parameters][1:]}}, [])
        for id in [str(shelf.list()[0].id)] for verb, each in panel._verbs.items()
    }
    seen += [verb for verb in ("rows", "preview", "open", "hello") if "ok" not in answers[verb]]""",
    ),
    "the meaning of words": (
        "onnxruntime",
        "from memories_sdk.semantic import MiniLM; options = {'embedder': MiniLM()}",
        "shelf.search('letters of the alphabet')",
    ),
    "a key": (
        "cryptography",
        "import cryptography; options = {'key': bytes(32)}",
        "store.rekey(b'1' * 32)",
    ),
}
"""What is watched: the package that it needs, its imports, and what it does beside the rest."""


@pytest.mark.parametrize("part", PARTS)
def test_no_call_reaches_the_network_or_unpickles_anything(part: str) -> None:
    """From opening to closing: no socket, no address, no pickle, no other program."""
    package, imports, calls = PARTS[part]
    pytest.importorskip(package)
    script = AUDIT.replace("MORE_IMPORTS", imports).replace("MORE_CALLS", calls)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
