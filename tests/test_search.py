"""What a search finds, on small shelves and on large ones."""

import os
import sqlite3
import stat
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories_sdk import InvalidInput, MemoryStore
from memories_sdk.database import Database
from memories_sdk.errors import StoreBusy, UnknownType
from memories_sdk.memory import MAX_BODY_BYTES
from memories_sdk.search import searcher


@pytest.fixture(params=["small", "large"])
def shelf(request, store, alice, monkeypatch):
    """An empty shelf that is searched in memory, or by its index on disk."""
    if request.param == "large":
        monkeypatch.setattr(searcher, "SMALL", 0)
    return store.scope(acting_as=alice)


def names(hits):
    """Return the names of hits."""
    return [hit.memory.name for hit in hits]


SYNTAX = 'oceanbase-blue-116 don\'t use ubuntu 20.04, C++ & a*b (x) "q" NEAR'
SCRIPTS = "Привет мир · Ελλάδα · עברית · العربية · हिन्दी · ไทย · 東京都 · 한국어는"


@pytest.mark.parametrize("query", ["oceanbase-blue-116", "don't", "20.04,", "C++", "NEAR("])
def test_query_is_never_syntax(shelf, query):
    """Signs that mean something to a search engine are text like any other."""
    shelf.save("n", "context", SYNTAX)
    assert names(shelf.search(query)) == ["n"]


@pytest.mark.parametrize("query", ["", "  \n", "!!!", '" OR *', "NOT", "zebra", "*", "once: x"])
def test_what_matches_nothing_finds_nothing(shelf, query):
    """Empty text, signs and operators find no memory by themselves."""
    shelf.save("n", "context", "unrelated")
    assert (len(shelf.search(query)), shelf.search(query).total) == (0, 0)


@pytest.mark.parametrize(
    "query", ["мир", "ΕΛΛΑΔΑ", "עברית", "العَرَبية", "हिन्दी", "ไทย", "京都", "東京", "한국어"]
)
def test_every_script_is_found(shelf, query):
    """Words of any script are found, also inside a run without blanks."""
    shelf.save("n", "context", SCRIPTS)
    assert names(shelf.search(query)) == ["n"]


@pytest.mark.parametrize("query", ["running", "Runs", "run"])
def test_english_endings_do_not_matter(shelf, query):
    """The forms of a word find each other."""
    shelf.save("n", "context", "she runs a race")
    assert names(shelf.search(query)) == ["n"]


def test_last_word_of_the_largest_body_is_found(shelf):
    """Whole bodies are searched."""
    filler = "filler words here " * 60_000
    shelf.save("n", "context", filler[: MAX_BODY_BYTES - 20] + " zyzzyva")
    hits = shelf.search("zyzzyva")
    assert names(hits) == ["n"]
    passage = hits[0].passages[0]
    assert "zyzzyva" in passage.text
    assert shelf.get("n", "context").content[passage.start : passage.end] == passage.text


def test_every_field_is_searched(shelf):
    """Name, tags, a written summary and the body all find a memory."""
    shelf.save("aardvark", "context", "buffalo", tags=["caracal"], summary="dingo")
    for query, field in (
        ("aardvark", "name"),
        ("buffalo", "content"),
        ("caracal", "tags"),
        ("dingo", "summary"),
    ):
        (hit,) = shelf.search(query)
        assert [passage.field for passage in hit.passages] == [field]


def test_names_and_headings_weigh_more(shelf):
    """A word of the name or of a heading says more than one of the body."""
    text = "water the garden and feed it in spring"
    shelf.save("body", "context", f"{text} roses")
    shelf.save("heading", "context", f"{text}\n\n# Roses\n")
    shelf.save("roses", "context", f"{text} spring")
    hits = shelf.search("roses")
    assert hits[-1].memory.name == "body"


def test_passages_have_their_places(shelf):
    """A passage is the text between its places, at most a sentence."""
    body = "One line.\nThe roses bloom in May! They smell.\n\nAnother about roses here."
    shelf.save("n", "context", body)
    (hit,) = shelf.search("roses")
    assert [passage.text for passage in hit.passages] == [
        "The roses bloom in May!",
        "Another about roses here.",
    ]
    assert all(body[each.start : each.end] == each.text for each in hit.passages)


def test_scores_fall_and_lie_between_zero_and_one(shelf):
    """Hits come best first, with scores that can be compared."""
    for number in range(20):
        shelf.save(f"m{number}", "context", "roses " * (number % 4 + 1) + "and more " * number)
    scores = [hit.score for hit in shelf.search("roses and lilies")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_filters_come_before_the_limit(shelf):
    """Type and tags choose among all matches; the total counts what passes them."""
    for number in range(40):
        shelf.save(f"p{number}", "plan", "roses roses")
    shelf.save("c", "context", "roses among many other flowers", tags=["red", "garden"])
    assert names(shelf.search("roses", type="context", limit=1)) == ["c"]
    assert names(shelf.search("roses", tags=["garden", "red"], limit=1)) == ["c"]
    assert shelf.search("roses", tags=["garden", "blue"]).total == 0
    assert shelf.search("roses", type="plan", limit=3).total == 40


def test_cursor_gives_each_hit_once(shelf):
    """Following the cursors meets every match once, in the order of one long page."""
    for number in range(25):
        shelf.save(f"m{number}", "context", f"roses {'x ' * (number % 5)}")
    whole = names(shelf.search("roses", limit=100))
    assert len(whole) == 25
    found, cursor = [], None
    while True:
        page = shelf.search("roses", limit=4, cursor=cursor)
        assert page.total == 25
        found += names(page)
        if (cursor := page.next_cursor) is None:
            break
    assert found == whole


@pytest.mark.parametrize("cursor", ["", "x", "bm8=", "WzEsMl0="])
def test_foreign_cursor_is_refused(shelf, cursor):
    """A cursor that is not ours is an error, not another page."""
    with pytest.raises(InvalidInput):
        shelf.search("x", cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 501, True])
def test_limit_out_of_range_is_refused(shelf, limit):
    """A limit has bounds."""
    with pytest.raises(InvalidInput):
        shelf.search("x", limit=limit)


def test_unknown_type_is_refused(shelf):
    """A type that is none of the shelf's is a mistake, not an empty answer."""
    with pytest.raises(UnknownType):
        shelf.search("x", type="song")


def test_every_search_sees_the_last_write(shelf):
    """Whatever a verb did, the next search knows it."""
    memory = shelf.save("n", "context", "roses").memory
    assert names(shelf.search("roses")) == ["n"]
    shelf.save("n", "context", "lilies")
    assert shelf.search("roses").total == 0
    assert names(shelf.search("lilies")) == ["n"]
    shelf.update(memory.id, tags=["tulips"])
    assert names(shelf.search("tulips")) == ["n"]
    shelf.update(memory.id, name="daisies")
    assert names(shelf.search("daisies")) == ["daisies"]
    shelf.delete("daisies", "context")
    assert shelf.search("lilies").total == 0
    shelf.restore(memory.id)
    assert names(shelf.search("lilies")) == ["daisies"]
    shelf.save("other", "context", "lilies")
    shelf.clear()
    assert shelf.search("lilies").total == 0


def test_types_outside_the_scope_are_not_found(store, alice):
    """A scope narrowed to some types finds nothing of the others."""
    store.scope(acting_as=alice).save("n", "context", "roses")
    facts = [each for each in store.vocabularies if "fact" in each.types]
    assert store.scope(acting_as=alice, vocabularies=facts).search("roses").total == 0


def test_other_shelves_have_no_part_in_a_score(store, monkeypatch):
    """The same shelf gives the same hits and scores, however many others there are."""
    monkeypatch.setattr(searcher, "SMALL", 0)
    acme = store.scope(acting_as=store.principals.user("acme"))
    corp = store.scope(acting_as=store.principals.user("acme-corp"))
    for number in range(12):
        acme.save(f"m{number}", "context", f"roses number {number}")
    before = [(hit.memory.name, hit.score) for hit in acme.search("roses number 3")]
    for number in range(30):
        corp.save(f"m{number}", "context", "roses theirs")
    assert corp.search("roses").total == 30
    assert [(hit.memory.name, hit.score) for hit in acme.search("roses number 3")] == before
    assert acme.search("theirs").total == 0


def test_index_gives_what_memory_gives(store, alice, monkeypatch):
    """For whole words, the index on disk ranks as the shelf in memory does."""
    shelf = store.scope(acting_as=alice)
    for number in range(50):
        shelf.save(f"m{number}", "context", f"gauge {number} reads {number * 7 % 50} litres")
    small = [(hit.memory.name, hit.score) for hit in shelf.search("gauge reads litres 21")]
    monkeypatch.setattr(searcher, "SMALL", 0)
    large = [(hit.memory.name, hit.score) for hit in shelf.search("gauge reads litres 21")]
    assert small == large


@pytest.mark.parametrize(("batch", "volume"), [(7, 1_000), (1_000, 20), (50, 1_000)])
def test_an_index_made_in_many_steps_misses_nothing(store, alice, monkeypatch, batch, volume):
    """However little one transaction takes, the first search finds all, and so does the next."""
    shelf = store.scope(acting_as=alice)
    for number in range(50):
        shelf.save(f"m{number:02d}", "context", f"gauge {number} reads litres")
    monkeypatch.setattr(searcher, "SMALL", 0)
    monkeypatch.setattr(searcher.word_index, "BATCH", batch)
    monkeypatch.setattr(searcher.word_index, "VOLUME", volume)
    assert shelf.search("litres").total == 50
    shelf.delete("m07", type="context")
    shelf.save("m08", "context", "nothing of the kind")
    assert shelf.search("litres").total == 48
    assert [hit.memory.name for hit in shelf.search("kind")] == ["m08"]


def test_index_is_made_by_a_search_and_not_by_a_save(tmp_path, monkeypatch):
    """A save leaves the index alone; a small shelf never has one."""
    path = tmp_path / "memories.db"
    with MemoryStore(path) as store, closing(sqlite3.connect(path)) as file:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        shelf.save("n", "context", "roses")
        shelf.search("roses")
        tables = "SELECT count(*) FROM sqlite_master WHERE name LIKE 'search_%'"
        assert file.execute(tables).fetchone() == (0,)
        monkeypatch.setattr(searcher, "SMALL", 0)
        shelf.save("m", "context", "roses")
        assert file.execute(tables).fetchone() == (0,)
        shelf.search("roses")
        indexed = "SELECT count(*) FROM search_memories"
        assert file.execute(indexed).fetchone() == (2,)
        shelf.save("o", "context", "roses")
        assert file.execute(indexed).fetchone() == (2,)
        assert shelf.search("roses").total == 3
        assert file.execute(indexed).fetchone() == (3,)


def test_search_does_not_wait_for_a_writer(store, alice, monkeypatch):
    """While somebody else writes, what the index lacks is read from the bodies."""
    monkeypatch.setattr(searcher, "SMALL", 0)
    shelf = store.scope(acting_as=alice)
    shelf.save("old", "context", "roses")
    shelf.save("changed", "context", "roses")
    assert shelf.search("roses").total == 2
    shelf.save("new", "context", "roses and lilies")
    shelf.save("changed", "context", "tulips")

    def busy(_database, _scope_key):
        raise StoreBusy(0.2)

    monkeypatch.setattr(searcher.word_index, "bring_up", busy)
    assert sorted(names(shelf.search("roses"))) == ["new", "old"]
    assert names(shelf.search("lilies")) == ["new"]
    assert names(shelf.search("tulips")) == ["changed"]


def test_file_that_cannot_be_written_is_searched(tmp_path, monkeypatch):
    """A store without the right to write finds all the same."""
    if os.geteuid() == 0:
        monkeypatch.setattr(
            searcher.word_index, "bring_up", lambda *_: (_ for _ in ()).throw(StoreBusy(0))
        )
    monkeypatch.setattr(searcher, "SMALL", 0)
    path = tmp_path / "memories.db"
    with MemoryStore(path) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        shelf.save("n", "context", "roses")
        path.chmod(stat.S_IRUSR)
        assert names(shelf.search("roses")) == ["n"]
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)


@pytest.mark.engines("sqlite-file", "sqlite-memory")
def test_broken_index_raises(store, alice, monkeypatch):
    """An error of the engine is an error of the search, never an empty answer."""
    monkeypatch.setattr(searcher, "SMALL", 0)
    shelf = store.scope(acting_as=alice)
    shelf.save("n", "context", "roses")
    shelf.search("lilies")
    database: Database = shelf._setting.database
    with database.write() as connection:
        connection.execute("DROP TABLE search_memories")
    with pytest.raises(Exception, match="search_memories"):
        shelf.search("roses")


def test_erased_shelf_leaves_no_word(store, alice, monkeypatch, engine):
    """A shelf taken out of the index leaves nothing there, and comes back by the next search."""
    monkeypatch.setattr(searcher, "SMALL", 0)
    shelf = store.scope(acting_as=alice)
    shelf.save("n", "context", "sesame")
    assert shelf.search("sesame").total == 1
    database: Database = shelf._setting.database
    with database.write() as connection:
        searcher.word_index.erase(connection, shelf.key)
        entries = "search_counts" if engine.startswith("sqlite") else "search_entries"
        left = connection.execute(f"SELECT term FROM {entries}").fetchall()  # noqa: S608
    assert not left
    assert shelf.search("sesame").total == 1


def test_members_lose_search_with_their_membership(store, bob, lab):
    """Whoever may not see a shelf may not search it."""
    team = store.scope(acting_as=bob, principal=lab)
    team.save("n", "context", "roses")
    assert team.search("roses").total == 1
    store.principals.remove_member(lab, bob)
    with pytest.raises(PermissionError):
        team.search("roses")
    with pytest.raises(PermissionError):
        team.relevant_for_prompt("roses")


def test_query_must_be_text(shelf):
    """What is no text is refused with a code."""
    with pytest.raises(InvalidInput):
        shelf.search(None)


@given(st.lists(st.text(max_size=60), min_size=1, max_size=5), st.text(max_size=60))
@settings(max_examples=150)
def test_any_text_can_be_stored_and_sought(bodies, query):
    """No text is an error, and both kinds of shelf find what holds the query's words."""
    with MemoryStore(":memory:") as store, pytest.MonkeyPatch.context() as patch:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        for number, body in enumerate(bodies):
            shelf.save(f"m{number}", "context", body.replace("\0", ""))
        small = set(names(shelf.search(query)))
        patch.setattr(searcher, "SMALL", 0)
        large = set(names(shelf.search(query)))
    assert large <= small


def test_reprs_are_stable(shelf):
    """What a cell shows holds no address and no time."""
    shelf.save("n", "context", "roses")
    hits = shelf.search("roses")
    assert repr(hits) == "<Hits 1 of 1: n>"
    assert repr(hits[0].passages[0]) == "<Passage content[0:5] 'roses'>"
    assert "<td>roses</td>" in hits._repr_html_()
    assert shelf.search("roses") == hits
    assert hash(shelf.search("roses")) == hash(hits)
