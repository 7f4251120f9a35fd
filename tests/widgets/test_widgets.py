"""The kernel halves: each request resolves the shelf anew and calls one verb of the scope."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from memories_sdk import MemoryStore, Vocabulary, widgets
from memories_sdk.widgets._place import Placed

MARKER = "sesame-open-the-door"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR picture"


class Page:
    """The other end of a widget: asks as the page does."""

    def __init__(self, widget: Placed) -> None:
        self.widget = widget
        self.sent: list[dict[str, object]] = []
        self.buffers: list[bytes] = []
        widget.send = self._hear

    def _hear(self, content: dict[str, object], buffers: list[bytes] | None = None) -> None:
        self.sent.append(content)
        self.buffers = buffers or []

    def ask(self, verb: str, buffers: list[bytes] = (), **args: object):
        """Return the answer, which must be no refusal."""
        answer = self.answer(verb, buffers, **args)
        assert "error" not in answer, answer
        return answer["ok"]

    def refused(self, verb: str, buffers: list[bytes] = (), **args: object) -> str:
        """Return the code of the refusal."""
        return self.answer(verb, buffers, **args)["error"]["code"]

    def answer(self, verb: str, buffers: list[bytes] = (), **args: object) -> dict[str, object]:
        """Return the answer whatever it is; it has passed through JSON, as on a wire."""
        self.widget._handle_custom_msg(
            json.loads(json.dumps({"id": "1", "verb": verb, "args": args})),
            [memoryview(each) for each in buffers],
        )
        return json.loads(json.dumps(self.sent[-1]))

    def names(self, offset: int = 0, limit: int = 100) -> list[str]:
        """Return the names of a window of rows."""
        return [row["name"] for row in self.ask("rows", offset=offset, limit=limit)["rows"]]


@pytest.fixture
def shelf(store, alice):
    """Alice's global shelf with four memories."""
    scope = store.scope(acting_as=alice)
    for name, type in [("a", "plan"), ("b", "context"), ("c", "plan"), ("d", "examples")]:
        scope.save(name, type, f"# Body of {name}")
    return scope


@pytest.fixture
def page(store, shelf):
    """A panel on that shelf, seen from its page."""
    panel = widgets.MemoryPanel(store, acting_as=shelf.caller)
    yield Page(panel)
    panel.close()


def id_of(shelf, name: str) -> str:
    """Return the id of the memory of that name."""
    return next(str(head.id) for head in shelf.list() if head.name == name)


def test_rows_come_by_window_without_bodies(page) -> None:
    """A list never reads or sends a body."""
    window = page.ask("rows", offset=1, limit=2)
    assert [row["name"] for row in window["rows"]] == ["b", "c"]
    assert (window["offset"], window["total"], window["all"]) == (1, 4, 4)
    assert all("content" not in row for row in window["rows"])


def test_rows_follow_a_change_made_elsewhere(page, shelf) -> None:
    """The kept heads are read again as soon as the change feed moved."""
    assert page.names() == ["a", "b", "c", "d"]
    shelf.delete("b", "context")
    shelf.save("e", "plan", "")
    assert page.names() == ["a", "c", "d", "e"]


def test_filter_and_search_narrow_together(page, shelf) -> None:
    """Words are looked for in name, summary and tags, whatever their case, also unfinished ones."""
    shelf.save("tagged", "plan", "text", tags=["Ünïque"])
    page.ask("narrow", type="plan")
    assert page.names() == ["a", "c", "tagged"]
    page.ask("seek", query="üNÏQ")
    assert page.names() == ["tagged"]
    assert (page.widget.filter, page.widget.query) == ("plan", "üNÏQ")
    assert page.ask("ids") == [{"id": id_of(shelf, "tagged"), "version": 1}]
    assert page.ask("rows", offset=0, limit=1)["ranked"] is True


def test_a_search_reads_bodies_and_shows_the_best_passage_first(page, shelf) -> None:
    """The box finds what the store's own search finds, in its order, and says where it stands."""
    shelf.save("log", "plan", "Nothing to see.\n\nThe greenhouse was painted.")
    shelf.save("greenhouse", "plan", "All about it.")
    page.ask("seek", query="greenhouses")
    assert page.names() == [hit.memory.name for hit in shelf.search("greenhouses")]
    rows = {row["name"]: row["found"] for row in page.ask("rows", offset=0, limit=9)["rows"]}
    assert rows == {"greenhouse": None, "log": "The greenhouse was painted."}
    shelf.delete("log", "plan")
    assert page.names() == ["greenhouse"]
    page.ask("seek", query=" ")
    assert page.ask("rows", offset=0, limit=1)["ranked"] is False


def test_a_move_in_a_filtered_list_leaves_hidden_rows_in_order(page, shelf) -> None:
    """`move` names a neighbour, so what the filter hides keeps its order."""
    page.ask("narrow", type="plan")
    page.ask("move", id=id_of(shelf, "c"), before=id_of(shelf, "a"))
    assert [head.name for head in shelf.list()] == ["c", "a", "b", "d"]


def test_types_have_counts_and_facts_show_where_there_are_any(page, shelf) -> None:
    """Chips of the second vocabulary appear with its first memory."""
    types = page.ask("types")
    assert [(each["label"], each["count"]) for each in types["types"]] == [
        ("Plans", 2),
        ("Docs", 0),
        ("Examples", 1),
        ("Context", 1),
    ]
    shelf.save("short", "preference", "tea")
    labels = [each["label"] for each in page.ask("types")["types"]]
    assert labels[4:] == ["Preferences", "Constraints", "Facts", "Workflows"]
    assert page.ask("types")["all"] == 5


def test_a_vocabulary_declared_in_code_shows_by_itself(tmp_path) -> None:
    """No widget knows which types there are."""
    recipes = Vocabulary("recipes", {"soup": "Soups", "stew": "Stews"})
    with MemoryStore(tmp_path / "own.db", vocabularies=[recipes]) as store:
        panel = Page(widgets.MemoryPanel(store, acting_as=store.principals.user("alice")))
        assert [each["label"] for each in panel.ask("types")["types"]] == ["Soups", "Stews"]
        assert panel.refused("narrow", type="plan") == "unknown_type"
        panel.widget.close()


def test_groups_stand_in_the_order_of_the_vocabulary(page, shelf) -> None:
    """Grouped, memories of one type stand under a heading; each keeps its place among them."""
    page.ask("group", on=True)
    window = page.ask("rows", offset=0, limit=100)
    lines = [row.get("label") or row["name"] for row in window["rows"]]
    assert lines == ["Plans", "a", "c", "Examples", "d", "Context", "b"]
    assert (window["length"], window["total"]) == (7, 4)
    assert window["groups"][1] == {"type": "examples", "start": 3, "count": 1}
    page.ask("group", on=False)
    assert page.names() == ["a", "b", "c", "d"]
    assert shelf.list().total == 4


def items_of(shelf, *names: str) -> list[dict[str, object]]:
    """Return id and version of memories, as the page names them."""
    heads = {head.name: head for head in shelf.list()}
    return [{"id": str(heads[name].id), "version": heads[name].version} for name in names]


def test_many_are_changed_one_by_one(page, shelf) -> None:
    """What one memory refuses does not stop the others, and is said."""
    items = items_of(shelf, "a", "b", "c")
    shelf.save("b", "context", "theirs")
    outcome = page.ask("retype", items=items, type="examples")
    assert len(outcome["done"]) == 2
    assert outcome["refused"] == ["The memory changed: you saw version 1, it is at version 2."]
    assert {head.name: head.type for head in shelf.list()} == {
        "a": "examples",
        "b": "context",
        "c": "examples",
        "d": "examples",
    }
    page.ask("pin", items=items_of(shelf, "a", "d"), pinned=True)
    assert [head.name for head in shelf.list() if head.pinned] == ["a", "d"]
    assert page.refused("pin", items=[{"id": 1}], pinned=True) == "invalid"


def test_many_are_deleted_and_brought_back(page, shelf) -> None:
    """A bulk delete is undone as a whole."""
    done = page.ask("remove", items=items_of(shelf, "a", "c"))["done"]
    assert page.names() == ["b", "d"]
    assert page.ask("bring_back", ids=done)["refused"] == []
    assert sorted(page.names()) == ["a", "b", "c", "d"]


def test_many_move_to_another_shelf_with_all_they_have(page, store, shelf, lab) -> None:
    """A move between shelves keeps text, summary, tags and pin; nothing is lost on a refusal."""
    shelf.save("a", "plan", summary="written", tags=["x"], pinned=True)
    team = store.scope(acting_as=shelf.caller, principal=lab)
    team.save("c", "plan", "theirs")
    outcome = page.ask(
        "shelve", items=items_of(shelf, "a", "c"), principal_id=lab.id, agent_id=None
    )
    assert len(outcome["done"]) == 1
    assert outcome["refused"] == ["A memory [c] (type=plan) is there already."]
    moved = team.get("a", "plan")
    assert (moved.content, moved.summary, moved.tags, moved.pinned) == (
        "# Body of a",
        "written",
        ("x",),
        True,
    )
    assert team.get("c", "plan").content == "theirs"
    assert page.names() == ["b", "c", "d"]


def test_no_memory_moves_to_a_shelf_that_is_not_the_callers(page, shelf, bob) -> None:
    """The target is resolved by the store, like the source."""
    items = items_of(shelf, "a")
    assert (
        page.refused("shelve", items=items, principal_id=bob.id, agent_id=None) == "access_denied"
    )
    assert len(page.names()) == 4


def test_moved_memories_come_back_under_their_ids(page, store, shelf, lab) -> None:
    """The undo of a move to another shelf; each keeps its id on the way there and back."""
    items = items_of(shelf, "a", "c")
    done = page.ask("shelve", items=items, principal_id=lab.id, agent_id=None)["done"]
    assert done == [item["id"] for item in items]
    team = store.scope(acting_as=shelf.caller, principal=lab)
    assert {str(head.id) for head in team.list()} == set(done)
    back = page.ask("fetch_back", ids=done, principal_id=lab.id, agent_id=None)
    assert (back["done"], back["refused"]) == (done, [])
    assert team.list().total == 0
    assert sorted(page.names()) == ["a", "b", "c", "d"]


def test_files_become_memories_and_a_folder_names_their_type(page, shelf) -> None:
    """What a file cannot be is said; the others are there."""
    files = [
        {"path": "/notes/plan/sail.md", "text": "# Sail"},
        {"path": "/notes/tea.markdown", "text": "green"},
        {"path": "plan/a.md", "text": "taken"},
        {"path": "README", "text": "\0"},
    ]
    outcome = page.ask("take_in", files=files, type="context")
    assert len(outcome["done"]) == 2
    assert outcome["refused"][0] == "plan/a.md: A memory [a] (type=plan) is there already."
    assert outcome["refused"][1].startswith("README: content holds a NUL")
    assert shelf.get("sail", "plan").content == "# Sail"
    assert shelf.get("tea", "context").content == "green"
    assert page.refused("take_in", files=[{"path": 1, "text": ""}], type="context") == "invalid"


def test_a_picture_is_attached_shown_and_fetched(page, store, bob) -> None:
    """The preview names a stand-in for each picture of the shelf, and for no other."""
    made = page.ask("attach", buffers=[PNG], name="plot [1]")
    assert made["markdown"] == rf"![plot \[1\]](attachment:{made['id']})"
    foreign = store.scope(acting_as=bob).attach(PNG + b"!", name="theirs")
    shown = page.ask("preview", text=f"{made['markdown']} ![x](attachment:{foreign.id})")
    assert list(shown["pictures"].values()) == [made["id"]]
    (stand_in,) = shown["pictures"]
    assert f'<img src="{stand_in}" alt="plot [1]">' in shown["html"]
    assert "[image: x]" in shown["html"]
    assert page.ask("picture", id=made["id"]) == {"media_type": "image/png"}
    assert page.buffers == [PNG]
    assert page.refused("picture", id=str(foreign.id)) == "not_found"
    assert page.refused("attach", buffers=[b"<svg/>"], name="x.png") == "invalid"
    assert page.refused("attach", name="x.png") == "invalid"


def test_what_was_typed_is_kept_until_it_is_dropped(page, store, shelf, alice) -> None:
    """Another panel, as after a crash, lists it and opens it."""
    fields = {"name": "n", "type": "plan", "summary": "", "tags": ["x"], "content": "typed"}
    page.ask("keep", key="k1", memory_id=id_of(shelf, "a"), version=1, fields=fields)
    other = Page(widgets.MarkdownEditor(store, acting_as=alice))
    found = other.ask("drafts")
    assert [(each["key"], each["name"]) for each in found["drafts"]] == [("k1", "n")]
    assert other.ask("draft", key="k1") == {
        "memory_id": id_of(shelf, "a"),
        "version": 1,
        "fields": fields,
    }
    assert page.ask("drafts")["place"] == found["place"]
    other.ask("drop", key="k1")
    assert other.refused("draft", key="k1") == "not_found"
    other.widget.close()


def test_a_place_is_that_of_one_person_on_one_shelf(page, store, bob, lab) -> None:
    """By it a page tells whose unsaved text it holds."""
    own = page.ask("drafts")["place"]
    page.ask("choose", principal_id=lab.id)
    theirs = Page(widgets.MemoryPanel(store, acting_as=bob, principal=lab))
    assert len({own, page.ask("drafts")["place"], theirs.ask("drafts")["place"]}) == 3
    theirs.widget.close()


@pytest.mark.parametrize(
    "fields", [{}, {"type": 1}, {"type": "novel"}, {"type": "plan", "id": "x"}], ids=str
)
def test_what_is_no_form_is_not_kept(page, fields) -> None:
    """The page cannot reach past the form here either."""
    assert page.refused("keep", key="k", memory_id=None, version=None, fields=fields) in {
        "invalid",
        "unknown_type",
    }


def test_shelves_are_all_the_caller_may_open_but_this_one(page, store, alice, lab) -> None:
    """What memories can be moved to."""
    agent = store.agents.create("writer", owner=alice)
    assert page.ask("shelves") == [
        {"principal_id": alice.id, "agent_id": agent.id, "name": "writer"},
        {"principal_id": lab.id, "agent_id": None, "name": "lab"},
    ]


def test_find_and_replace_follows_the_rule_of_the_unique_anchor(page) -> None:
    """The draft is rewritten by the same rule as an agent's replace; nothing is stored."""
    assert page.ask("rewrite", text="red, blue", find="blue", new_text="green") == "red, green"
    assert page.refused("rewrite", text="aaa", find="aa", new_text="b") == "anchor_not_unique"
    assert page.refused("rewrite", text="aaa", find="x", new_text="b") == "anchor_not_found"


def test_an_edit_carries_the_version_it_saw(page, shelf) -> None:
    """Nothing is overwritten silently: a stale version is refused."""
    doc = page.ask("open", id=id_of(shelf, "a"))
    assert doc["content"] == "# Body of a"
    shelf.save("a", "plan", "theirs")
    changes = {"content": "mine"}
    assert (
        page.refused("save", id=doc["id"], changes=changes, expected_version=doc["version"])
        == "edit_conflict"
    )
    assert shelf.get("a", "plan").content == "theirs"
    saved = page.ask("save", id=doc["id"], changes=changes, expected_version=doc["version"] + 1)
    assert shelf.get("a", "plan").content == saved["content"] == "mine"


def test_summary_follows_the_body_until_it_is_written(page, shelf) -> None:
    """A summary of null goes back to the derived one."""
    doc = page.ask("open", id=id_of(shelf, "a"))
    assert (doc["summary"], doc["derived"]) == ("Body of a", True)
    doc = page.ask(
        "save", id=doc["id"], changes={"summary": "mine"}, expected_version=doc["version"]
    )
    assert (doc["summary"], doc["derived"]) == ("mine", False)
    doc = page.ask("save", id=doc["id"], changes={"summary": None}, expected_version=doc["version"])
    assert (doc["summary"], doc["derived"]) == ("Body of a", True)


@pytest.mark.parametrize(
    "changes",
    [{"id": "x"}, {"version": 9}, {"content": 7}, {"tags": "a"}, {"tags": [1]}, {"name": None}],
    ids=str,
)
def test_only_fields_of_a_memory_can_be_changed(page, shelf, changes) -> None:
    """The page cannot reach past the form."""
    doc = page.ask("open", id=id_of(shelf, "a"))
    assert page.refused("save", id=doc["id"], changes=changes, expected_version=1) == "invalid"
    assert shelf.get("a", "plan").version == 1


def test_create_delete_and_restore(page, shelf) -> None:
    """A deleted memory comes back under its id."""
    made = page.ask("create", key="k", name="new", type="context", content="text", tags=["x"])
    assert shelf.get("new", "context").tags == ("x",)
    assert (
        page.refused("create", key="l", name="new", type="context", content="", tags=[])
        == "name_taken"
    )
    page.ask("delete", id=made["id"], expected_version=made["version"])
    assert page.refused("open", id=made["id"]) == "not_found"
    assert page.ask("restore", id=made["id"])["id"] == made["id"]


def test_a_create_that_is_asked_for_again_is_the_same_one(page, shelf) -> None:
    """A page whose answer was lost asks again by the same key, and gets what it had made."""
    form = {"name": "new", "type": "context", "content": "text", "tags": []}
    made = page.ask("create", key="k", **form)
    assert page.ask("create", key="k", **form) == made
    assert page.refused("create", key="k", **form | {"content": "more"}) == "key_reused"
    assert [head.name for head in shelf.list()].count("new") == 1


def test_history_tells_who_did_what_and_every_version_can_be_read(page, shelf) -> None:
    """Each revision says who, when and how; the state it led to is rebuilt from the history."""
    id = id_of(shelf, "a")
    doc = page.ask("open", id=id)
    page.ask("save", id=id, changes={"content": "two", "tags": ["x"]}, expected_version=1)
    shelf.replace("a", "plan", find="two", new_text="three")
    revisions = page.ask("history", id=id)
    assert [(r["version"], r["action"], r["actor"], r["source"]) for r in revisions] == [
        (3, "replace", "user:alice", None),
        (2, "update", "user:alice", "panel"),
        (1, "create", "user:alice", None),
    ]
    assert page.ask("past", id=id, version=1)["content"] == doc["content"]
    assert page.ask("past", id=id, version=2) == {
        "name": "a",
        "type": "plan",
        "content": "two",
        "summary": "two",
        "tags": ["x"],
    }
    assert page.refused("past", id=id, version=9) == "not_found"
    assert page.refused("restore", id=id, version=1, expected_version=2) == "edit_conflict"
    back = page.ask("restore", id=id, version=1, expected_version=3)
    assert back["content"] == doc["content"]


def test_what_was_deleted_is_listed(page, shelf) -> None:
    """The bin shows the last name and type of what is gone."""
    shelf.delete("a", "plan")
    gone = page.ask("deleted")
    assert [(each["name"], each["type"], each["action"]) for each in gone] == [
        ("a", "plan", "delete")
    ]
    page.ask("restore", id=gone[0]["id"])
    assert page.ask("deleted") == []


def test_clear_returns_what_went_so_that_it_can_be_undone(page, shelf) -> None:
    """Clearing one type leaves the others; the ids bring all back."""
    ids = page.ask("clear", type="plan")
    assert page.names() == ["b", "d"]
    assert len(page.ask("bring_back", ids=ids)["done"]) == 2
    assert len(page.ask("clear", type=None)) == 4
    assert shelf.list().total == 0


def test_preview_is_rendered_and_sanitised_by_the_kernel(page) -> None:
    """Raw HTML shows as text, and ids carry a prefix of this widget's own."""
    html = page.ask("preview", text="**b** <img src=x onerror=alert(1)>")["html"]
    assert "<strong>b</strong>" in html
    assert "<img" not in html


def test_choosing_a_principal_scopes_everything_after(page, store, alice, lab) -> None:
    """Reads and writes go to the shelf that is chosen."""
    page.ask("choose", principal_id=lab.id)
    assert page.names() == []
    page.ask("create", key="k", name="ours", type="plan", content="", tags=[])
    assert [h.name for h in store.scope(acting_as=alice, principal=lab).list()] == ["ours"]


def test_places_are_those_of_the_caller(page, store, alice, lab) -> None:
    """The caller comes first, groups are marked, agents are those of the chosen principal."""
    store.agents.create("writer", owner=alice)
    store.agents.create("team-agent", owner=lab)
    places = page.ask("places")
    assert [(p["name"], p["kind"], p["own"]) for p in places["principals"]] == [
        ("alice", "user", True),
        ("lab", "group", False),
    ]
    assert [agent["name"] for agent in places["agents"]] == ["writer"]


def test_changing_principal_leaves_an_agent_that_is_not_theirs(page, store, alice, lab) -> None:
    """The agent's shelf closes with its owner."""
    writer = store.agents.create("writer", owner=alice)
    page.ask("enter", agent_id=writer.id)
    assert page.widget.agent_id == writer.id
    page.ask("choose", principal_id=lab.id)
    assert (page.widget.principal_id, page.widget.agent_id) == (lab.id, None)
    assert page.refused("enter", agent_id=writer.id) == "not_found"


def test_a_foreign_principal_is_refused(page, bob) -> None:
    """What the page sends is no authority."""
    assert page.refused("choose", principal_id=bob.id) == "access_denied"
    assert page.refused("choose", principal_id=9999) == "access_denied"
    assert page.widget.principal_id != bob.id


def test_a_membership_taken_away_is_refused_at_the_next_request(store, bob, lab) -> None:
    """The scope is resolved anew each time, so a revoked right ends at once."""
    panel = Page(widgets.MemoryPanel(store, acting_as=bob, principal=lab))
    assert panel.names() == []
    store.principals.remove_member(lab, bob)
    for verb, args in {
        "rows": {"offset": 0, "limit": 1},
        "types": {},
        "changes": {"since": 0},
        "create": {"key": "k", "name": "n", "type": "plan", "content": "", "tags": []},
    }.items():
        assert panel.refused(verb, **args) == "access_denied", verb
    assert repr(panel.widget) == "<MemoryPanel a closed shelf acting as user:bob>"
    panel.widget.close()


def test_changes_tell_what_others_did(page, shelf) -> None:
    """The first look gives the place, later looks the ids that changed since."""
    seq = page.ask("changes", since=None)["seq"]
    nothing = page.ask("changes", since=seq)
    assert (nothing["seq"], nothing["ids"], nothing["more"]) == (seq, [], False)
    shelf.save("a", "plan", "new")
    news = page.ask("changes", since=seq)
    assert (news["ids"], news["more"]) == ([id_of(shelf, "a")], False)
    shelf.reorder([id_of(shelf, "d")])
    assert page.ask("changes", since=news["seq"])["more"] is True


def test_a_look_raises_the_revision_only_when_something_changed(page, shelf) -> None:
    """The page is told of news, and left alone without."""
    panel = page.widget
    panel.look()
    panel.look()
    assert panel.revision == 0
    shelf.save("a", "plan", "new")
    panel.look()
    assert panel.revision == 1


def test_a_look_tells_of_a_shelf_that_was_closed(store, bob, lab) -> None:
    """A page learns of a lost membership by itself."""
    panel = widgets.MemoryList(store, acting_as=bob, principal=lab)
    panel.look()
    store.principals.remove_member(lab, bob)
    panel.look()
    panel.look()
    assert panel.revision == 1
    panel.close()


def test_state_is_readable_and_settable_in_python(page, shelf) -> None:
    """What the page chooses is a trait, and a trait set in Python reaches the page."""
    seen = []
    page.widget.observe(
        lambda change: seen.append((change["name"], change["new"])), ["selected", "dirty"]
    )
    page.ask("select", id=id_of(shelf, "b"))
    page.ask("note", dirty=True)
    assert seen == [("selected", id_of(shelf, "b")), ("dirty", True)]
    page.widget.selected = None
    assert page.widget.get_state("selected") == {"selected": None}


def test_traits_hold_no_text_of_a_memory(store, alice) -> None:
    """Notebooks save the state of widgets; no memory must end up in a file that way."""
    shelf = store.scope(acting_as=alice)
    saved = shelf.save(MARKER, "plan", MARKER, summary=MARKER, tags=[MARKER]).memory
    panel = Page(widgets.MemoryPanel(store, acting_as=alice))
    for verb, args in {
        "rows": {"offset": 0, "limit": 9},
        "select": {"id": str(saved.id)},
        "open": {"id": str(saved.id)},
        "seek": {"query": MARKER},
        "preview": {"text": MARKER},
        "keep": {
            "key": "k",
            "memory_id": None,
            "version": None,
            "fields": {"type": "plan", "content": MARKER},
        },
        "draft": {"key": "k"},
    }.items():
        panel.ask(verb, **args)
    assert MARKER not in json.dumps(panel.widget.get_state(), default=str)
    panel.widget.close()


def test_static_list_for_viewers_without_a_kernel(store, alice) -> None:
    """A saved notebook shows names and counts, escaped."""
    store.scope(acting_as=alice).save("<b>bold</b>", "plan", "secret body")
    panel = widgets.MemoryPanel(store, acting_as=alice)
    data, _ = panel._repr_mimebundle_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in data["text/html"]
    assert "secret body" not in data["text/html"]
    assert data["text/plain"] == "<MemoryPanel user:alice acting as user:alice>"
    assert "application/vnd.jupyter.widget-view+json" in data
    panel.close()


@pytest.mark.parametrize("name", [each for each in widgets.__all__ if each != "wire"])
def test_each_widget_stands_alone(store, alice, name: str) -> None:
    """Each part works by itself, and says what it is."""
    widget = getattr(widgets, name)(store, acting_as=alice)
    assert Page(widget).ask("hello")["widget"] == name
    assert repr(widget) == f"<{name} user:alice acting as user:alice>"
    widget.close()


def test_an_unknown_option_is_refused_with_advice(store, alice) -> None:
    """A typing mistake is named, not swallowed."""
    with pytest.raises(TypeError, match=r"MemoryPanel\(\) has no option 'princpal'; did you mean"):
        widgets.MemoryPanel(store, acting_as=alice, princpal=alice)
    with pytest.raises(TypeError, match="acting_as"):
        widgets.MemoryPanel(store)


def test_wired_widgets_share_what_is_chosen(store, alice, lab) -> None:
    """Separate widgets make one panel."""
    picker = widgets.PrincipalPicker(store, acting_as=alice)
    chips = widgets.TypeFilter(store, acting_as=alice)
    rows = widgets.MemoryList(store, acting_as=alice)
    editor = widgets.MarkdownEditor(store, acting_as=alice)
    widgets.wire(picker, chips, rows, editor)
    Page(picker).ask("choose", principal_id=lab.id)
    Page(chips).ask("narrow", type="plan")
    made = Page(editor).ask("create", key="k", name="x", type="plan", content="", tags=[])
    assert Page(rows).names() == ["x"]
    Page(rows).ask("select", id=made["id"])
    assert (rows.filter, editor.selected, editor.principal_id) == ("plan", made["id"], lab.id)
    for widget in (picker, chips, rows, editor):
        widget.close()


def test_ten_thousand_memories_are_listed_once(store, alice, monkeypatch) -> None:
    """Windows of an unchanged shelf come from the kept heads, not from the database."""
    shelf = store.scope(acting_as=alice)
    for index in range(1200):
        shelf.save(f"m{index:05d}", "context", "text")
    page = Page(widgets.MemoryList(store, acting_as=alice))
    assert page.names(1150, 100)[-1] == "m01199"
    reads = []
    listed = type(shelf).list
    monkeypatch.setattr(type(shelf), "list", lambda *a, **k: reads.append(1) or listed(*a, **k))
    assert page.names(500, 1) == ["m00500"]
    assert reads == []
    page.widget.close()


def test_the_top_of_a_large_shelf_costs_as_much_as_a_small_one(store, alice, monkeypatch) -> None:
    """The first window is one page of the store, however many memories come after it."""
    shelf = store.scope(acting_as=alice)
    for index in range(30):
        shelf.save(f"m{index:05d}", "plan" if index % 3 else "context", "text")
    page = Page(widgets.MemoryList(store, acting_as=alice))
    reads = []
    listed = type(shelf).list
    monkeypatch.setattr(type(shelf), "list", lambda *a, **k: reads.append(k) or listed(*a, **k))
    top = page.ask("rows", offset=0, limit=5)
    assert ([row["name"] for row in top["rows"]][-1], top["total"]) == ("m00004", 30)
    page.widget.filter = "context"
    top = page.ask("rows", offset=0, limit=5)
    assert ([row["name"] for row in top["rows"]][-1], top["total"]) == ("m00012", 10)
    assert (top["length"], top["all"]) == (10, 30)
    assert [each["limit"] for each in reads] == [5, 5]
    page.widget.close()


def test_without_the_extra_the_error_names_the_install_line() -> None:
    """The store works without a widget; `widgets` answers with one clear sentence."""
    script = (
        "import sys; sys.modules['anywidget'] = None\n"
        "from memories_sdk.errors import MissingExtra\n"
        "try:\n    import memories_sdk.widgets\n"
        "except MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert 'pip install "memories-sdk[widgets]"' in done.stdout, done.stderr


def delete(tools, name: str = "a"):
    """Let the agent ask for a delete on its owner's shelf."""
    return tools.call("global_memory", {"action": "delete", "name": name, "type": "plan"})


def test_requests_of_agents_wait_in_the_panel(page, tools, shelf) -> None:
    """Who asked, for what, what would change and until when; granted, it is done."""
    assert page.ask("changes", since=None)["waiting"] == 0
    assert delete(tools).approval is not None
    assert page.ask("changes", since=None)["waiting"] == 1
    (asked,) = page.ask("requests")
    assert asked["actor"] == "agent:writer"
    assert "delete" in asked["description"].lower()
    assert "# Body of a" in asked["preview"]
    assert asked["until"] > asked["at"]
    page.ask("grant", id=asked["id"])
    assert page.names() == ["b", "c", "d"]
    assert page.ask("requests") == []
    assert page.refused("grant", id=asked["id"]) == "conflict"
    assert shelf.history(limit=1)[0].actor == "agent:writer"


def test_a_request_is_refused_or_stale(page, tools, shelf) -> None:
    """A memory that changed since is left alone, and the person is told so."""
    delete(tools, "a")
    delete(tools, "c")
    first, second = page.ask("requests")
    page.ask("refuse", id=first["id"])
    shelf.save("c", "plan", "changed")
    assert page.refused("grant", id=second["id"]) == "edit_conflict"
    assert page.ask("requests") == []
    assert len(page.names()) == 4


def test_requests_are_those_the_caller_may_decide(shelf, tools, store, bob) -> None:
    """Another user neither sees nor decides them."""
    assert shelf.list().total == 4
    id = str(delete(tools).approval.id)
    hers = Page(widgets.MemoryPanel(store, acting_as=bob))
    assert hers.ask("requests") == []
    assert hers.ask("changes", since=None)["waiting"] == 0
    assert hers.refused("grant", id=id) == "not_found"
    assert hers.refused("refuse", id=id) == "not_found"
    hers.widget.close()


def test_a_look_tells_of_a_request_that_came(page, tools) -> None:
    """The queue fills by itself, though nothing on the shelf changed."""
    panel = page.widget
    panel.look()
    before = panel.revision
    delete(tools)
    panel.look()
    assert panel.revision == before + 1
