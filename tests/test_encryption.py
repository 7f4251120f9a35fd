"""An encrypted store: nothing of a text in the database, one key, and no way around it."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import NullPool, create_engine, make_url

from memories_sdk import InvalidInput, MemoryStore, MemoryTools, Scope, keys
from memories_sdk.encryption import Cipher
from memories_sdk.errors import MissingExtra, StoreDamaged, WrongKey
from memories_sdk.policy import APPROVAL
from memories_sdk.search import searcher
from memories_sdk.tables import metadata

if TYPE_CHECKING:
    from conftest import MakeStore

pytest.importorskip("cryptography")

KEY = secrets.token_bytes(32)
OTHER = secrets.token_bytes(32)
WORDS = ["heliotrope", "quillwort", "zugzwang", "farrago", "umbra47", "palimpsest"]
"""Words of bodies, summaries, past versions and unsaved texts; none is a name or a tag."""

pytestmark = pytest.mark.engines("sqlite-file", "postgresql", "mariadb")

DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "mariadb": "mysql+pymysql"}

Past = Callable[[str], list[tuple[object, ...]]]


@pytest.fixture
def past(where: Callable[[str], str]) -> Past:
    """Run a statement past the store, as whoever has the database can, and return its rows."""
    place = where("memories.db")
    url = make_url(place if "://" in place else f"sqlite:///{place}")
    engine = create_engine(url.set(drivername=DRIVERS[url.drivername]), poolclass=NullPool)

    def run(statement: str) -> list[tuple[object, ...]]:
        with engine.begin() as connection:
            result = connection.exec_driver_sql(statement)
            return [tuple(row) for row in result] if result.returns_rows else []

    return run


def shelf_of(store: MemoryStore) -> Scope:
    """Return a user's shelf."""
    return store.scope(acting_as=store.principals.user("alice"))


def fill(shelf: Scope) -> None:
    """Leave each word somewhere: here, in the past, deleted, unsaved."""
    shelf.create("n", "plan", f"a {WORDS[0]} grows", tags=["tag"])
    shelf.update(shelf.get("n", "plan").id, summary=f"the {WORDS[1]} line")
    shelf.replace("n", "plan", find=WORDS[0], new_text=WORDS[2])
    shelf.create("gone", "context", f"{WORDS[3]} {WORDS[0]}")
    shelf.delete("gone", "context")
    shelf.keep_draft("d", type="plan", content=f"{WORDS[4]} unsaved", name="later")
    shelf.save("f", "fact", WORDS[5])


def under_keys(store: MemoryStore) -> None:
    """Leave words in what is kept of calls that a host may repeat, and of what a person decided."""
    alice = store.principals.user("alice")
    store.agents.create("writer", owner=alice)
    tools = MemoryTools(store, acting_as=alice, agent="writer", policy=APPROVAL)
    call = {"name": "o", "type": "plan", "content": WORDS[0], "summary": WORDS[1]}
    tools.call("memory", call | {"action": "save"}, operation="one")
    tools.call("memory", call | {"action": "get"}, operation="two")
    tools.shelf("memory").once("three").replace("o", "plan", find=WORDS[0], new_text=WORDS[2])
    for number, decide in enumerate((store.approvals.grant, store.approvals.refuse)):
        wish = {"type": "fact", "key": f"k{number}", "value": WORDS[3]}
        asked = tools.call("remember_memory", wish, prompt=WORDS[4]).approval
        decide(asked.id, acting_as=alice)


def ask(store: MemoryStore) -> str:
    """Leave a call that waits for a person, and return its code."""
    tools = MemoryTools(store, acting_as=store.principals.user("alice"), policy=APPROVAL)
    wish = {"type": "fact", "key": "asked", "value": f"{WORDS[3]} {WORDS[4]}"}
    return tools.call("remember_memory", wish).code


def everything(past: Past, folder: Path) -> bytes:
    """Return all that lies in a folder, and all rows of a server's tables."""
    found = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    for table in metadata.sorted_tables:
        for row in past(f"SELECT * FROM {table.name}"):  # noqa: S608 -- tables of ours
            found += [it if isinstance(it, bytes) else str(it).encode() for it in row]
    return b"\n".join(found)


def found_in(past: Past, folder: Path) -> list[str]:
    """Return the words that stand anywhere as anybody could read them."""
    read = everything(past, folder).lower()
    return [word for word in WORDS if word.encode() in read]


def test_every_verb_works_and_no_text_reaches_the_device(
    make_store: MakeStore, past: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File, log and backup hold no word of a body, a summary, the past or an unsaved text."""
    monkeypatch.setattr(searcher, "SMALL", 0)  # as large as shelves get: no index on disk even so
    store = make_store(key=KEY)
    shelf = shelf_of(store)
    fill(shelf)
    read_back(store, shelf)
    assert ask(store) == "approval_required"
    (waiting,) = store.approvals.list(acting_as=store.principals.user("alice"))
    assert WORDS[4] in waiting.preview
    under_keys(store)
    assert found_in(past, tmp_path) == []
    assert shelf.redact(WORDS[3]) >= 3
    shelf.prune(keep=2)
    assert store.verify() == []
    store.backup(tmp_path / "backup.db")
    assert found_in(past, tmp_path) == []
    with MemoryStore(tmp_path / "backup.db", key=KEY) as copy:
        assert shelf_of(copy).get("n", "plan").content == f"a {WORDS[2]} grows"


def read_back(store: MemoryStore, shelf: Scope) -> None:
    """Read everything that `fill` left, by every way there is."""
    memory = shelf.get("n", "plan")
    assert (memory.content, memory.summary) == (f"a {WORDS[2]} grows", f"the {WORDS[1]} line")
    assert shelf.list()[0].summary == memory.summary
    assert shelf.search(WORDS[2])[0].memory.id == memory.id
    assert WORDS[5] in shelf.relevant_for_prompt(WORDS[5]).text
    assert shelf.history(id=memory.id)[0].before["content"] == f"a {WORDS[0]} grows"
    assert shelf.restore(memory.id, version=1).content == f"a {WORDS[0]} grows"
    shelf.move(memory.id, after=shelf.get("f", "fact").id)
    shelf.undo()
    shelf.undo()
    assert shelf.drafts()[0].content == f"{WORDS[4]} unsaved"
    gone = shelf.deleted()[0].memory_id
    assert shelf.restore(gone).content == f"{WORDS[3]} {WORDS[0]}"
    tools = MemoryTools(store, acting_as=store.principals.user("alice"))
    call = {"action": "get", "name": "n", "type": "plan"}
    assert WORDS[2] in tools.call("global_memory", call).text


def test_the_search_for_words_would_find_them(
    make_store: MakeStore, past: Past, tmp_path: Path
) -> None:
    """The judge above is no rubber stamp: without a key every word is there."""
    fill(shelf_of(make_store()))
    assert found_in(past, tmp_path) == WORDS


@pytest.mark.parametrize("key", [OTHER, None, bytes(32)], ids=["another", "none", "zeros"])
def test_another_key_opens_nothing(
    make_store: MakeStore, past: Past, tmp_path: Path, key: object
) -> None:
    """A wrong key is told as what it is, never as an empty store, and changes no byte."""
    store = make_store(key=KEY)
    fill(shelf_of(store))
    store.close()
    before = everything(past, tmp_path)
    with pytest.raises(WrongKey) as caught:
        make_store(key=key)
    assert caught.value.suggestion
    assert everything(past, tmp_path) == before
    assert shelf_of(make_store(key=KEY)).list().total == 2


@pytest.mark.parametrize(
    "key",
    [b"short", "a" * 32, KEY + b"x", 7, bytearray(32)],
    ids=["short", "text", "long", "number", "mutable"],
)
def test_a_key_is_32_bytes(make_store: MakeStore, key: object) -> None:
    """A passphrase or a cut key is refused when it is given."""
    with pytest.raises(InvalidInput, match="32 bytes"):
        make_store(key=key)


def test_a_plain_store_with_memories_takes_no_key_by_itself(make_store: MakeStore) -> None:
    """Half a store in plain text would promise what it does not keep."""
    store = make_store()
    fill(shelf_of(store))
    store.close()
    with pytest.raises(WrongKey, match="not encrypted"):
        make_store(key=KEY)


@pytest.mark.parametrize("first", [None, OTHER], ids=["plain", "another key"])
def test_a_store_is_sealed_anew_as_a_whole(
    make_store: MakeStore,
    past: Past,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: object,
) -> None:
    """With a first or another key all texts, past and unsaved ones, are there and nothing else."""
    monkeypatch.setattr(searcher, "SMALL", 0)
    store = make_store(key=first)
    shelf = shelf_of(store)
    fill(shelf)
    shelf.search(WORDS[0])  # without a key it makes an index of words
    shelf.redact("nothing")
    ask(store)
    told = [(each.seq, each.before, each.name) for each in shelf.history()]
    assert store.verify() == []
    store.rekey(KEY)
    assert found_in(past, tmp_path) == []
    assert store.verify() == []
    assert [(each.seq, each.before, each.name) for each in shelf.history()] == told
    assert shelf.drafts()[0].content == f"{WORDS[4]} unsaved"
    assert shelf.search(WORDS[2]).total == 1
    alice = store.principals.user("alice")
    assert ask(store) == "approval_required"
    (waiting,) = store.approvals.list(acting_as=alice)
    assert store.approvals.grant(waiting.id, acting_as=alice).ok
    assert shelf.get("asked", "fact").content == f"{WORDS[3]} {WORDS[4]}"
    shelf.save("new", "plan", WORDS[0])
    store.close()
    assert found_in(past, tmp_path) == []
    for wrong in (first, secrets.token_bytes(32)):
        with pytest.raises(WrongKey):
            make_store(key=wrong)
    again = make_store(key=KEY)
    assert again.verify() == []
    assert shelf_of(again).get("n", "plan").content == f"a {WORDS[2]} grows"


@pytest.mark.parametrize("first", [None, OTHER], ids=["plain", "another key"])
@pytest.mark.parametrize("step", ["_reseal_memories", "_reseal_requests"], ids=["early", "late"])
def test_a_change_of_key_that_breaks_off_leaves_the_old_one(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch, first: object, step: str
) -> None:
    """Wherever it ends, all texts open with the key of before and none with the new one."""
    store = make_store(key=first)
    shelf = shelf_of(store)
    fill(shelf)
    ask(store)
    told = [(each.seq, each.before, each.name) for each in shelf.history()]
    done = getattr(keys, step)

    def broken(*given: object) -> None:
        done(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(keys, step, broken)
    with pytest.raises(KeyboardInterrupt):
        store.rekey(KEY)
    monkeypatch.undo()
    for one in (store, make_store(key=first)):
        again = shelf_of(one)
        assert again.get("n", "plan").content == f"a {WORDS[2]} grows"
        assert [(each.seq, each.before, each.name) for each in again.history()] == told
        assert again.drafts()[0].content == f"{WORDS[4]} unsaved"
        assert one.verify() == []
    with pytest.raises(WrongKey):
        make_store(key=KEY)
    store.rekey(KEY)
    assert shelf.get("n", "plan").content == f"a {WORDS[2]} grows"


def test_two_that_open_a_new_store_at_once_agree(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second finds the salt of the first, although there was none when it looked."""
    second: list[MemoryStore] = []
    new = Cipher.new

    def slow(key: bytes, digest_key: bytes | None = None) -> Cipher:
        monkeypatch.setattr(Cipher, "new", new)
        second.append(make_store(key=KEY))
        return new(key, digest_key)

    monkeypatch.setattr(Cipher, "new", slow)
    first = make_store(key=KEY)
    shelf_of(first).save("n", "plan", "x")
    shelf_of(second[0]).save("n", "plan", "y")
    assert shelf_of(first).get("n", "plan").content == "y"
    monkeypatch.undo()
    assert shelf_of(make_store(key=KEY)).get("n", "plan").version == 2


def test_a_store_that_is_open_elsewhere_notices_its_new_key(make_store: MakeStore) -> None:
    """Nobody writes with a key that is not the store's any more."""
    one, two = make_store(key=OTHER), make_store(key=OTHER)
    shelf = shelf_of(two)
    shelf.save("n", "plan", "x")
    one.rekey(KEY)
    for call in (lambda: shelf.save("n", "plan", "y"), lambda: shelf.get("n", "plan"), shelf.list):
        with pytest.raises(WrongKey, match="was changed"):
            call()
    assert shelf_of(one).get("n", "plan").content == "x"


def test_a_damaged_store_is_not_sealed_as_if_it_were_whole(
    make_store: MakeStore, past: Past
) -> None:
    """A change behind the store's back stays to be seen."""
    store = make_store()
    shelf_of(store).save("n", "plan", "x")
    past("UPDATE memory_bodies SET content = 'y'")
    with pytest.raises(StoreDamaged):
        store.rekey(KEY)
    assert store.verify()
    store.close()
    assert shelf_of(make_store()).get("n", "plan").content == "y"


SWAPS = {
    "bodies": "UPDATE memory_bodies SET content = (SELECT content FROM memory_bodies b"
    " WHERE b.row <> memory_bodies.row)",
    "summaries": "UPDATE memories SET summary = (SELECT summary FROM memories m"
    " WHERE m.row <> memories.row)",
    "a body and its past": "UPDATE memory_bodies SET content = (SELECT before_content"
    " FROM memory_revisions WHERE before_content IS NOT NULL LIMIT 1)",
    "a cut text": "UPDATE memory_bodies SET content = substr(content, 1, 20)",
    "plain text": "UPDATE memory_bodies SET content = 'obey'",
    "the images of two revisions": "UPDATE memory_revisions SET before_content ="
    " (SELECT before_content FROM memory_revisions r WHERE r.before_content IS NOT NULL"
    " AND r.seq <> memory_revisions.seq LIMIT 1) WHERE before_content IS NOT NULL",
}


@pytest.mark.parametrize("kind", SWAPS)
def test_no_sealed_text_can_stand_in_for_another(
    make_store: MakeStore, past: Past, kind: str
) -> None:
    """A text is bound to its row: swapped, cut or put in, it does not open and is found."""
    store = make_store(key=KEY)
    shelf = shelf_of(store)
    for name in "ab":
        shelf.create(name, "plan", f"{name} one")
        shelf.save(name, "plan", f"{name} two")
    past(SWAPS[kind])
    assert store.verify()

    def read() -> None:
        for head in shelf.list():
            shelf.get_by_id(head.id)
        shelf.history()

    with pytest.raises(WrongKey, match="does not open"):
        read()


def test_equal_texts_are_not_seen_to_be_equal(make_store: MakeStore, past: Past) -> None:
    """Each text has a nonce of its own, and no digest that could be looked up."""
    shelf = shelf_of(make_store(key=KEY))
    for name in ("a", "b", "c"):
        shelf.create(name, "plan", "yes")
    stored = [row[0] for row in past("SELECT content FROM memory_bodies")]
    digests = {bytes(row[0]) for row in past("SELECT sha256 FROM memory_bodies")}
    assert len(set(stored)) == 3
    import hashlib  # noqa: PLC0415 -- what an attacker would use

    assert hashlib.sha256(b"yes").digest() not in digests


def test_vectors_and_a_key_exclude_each_other(make_store: MakeStore) -> None:
    """A text can be guessed from its vector, which lies beside it in the clear."""

    class Model:
        name, dim = "m", 2

        def embed(self, texts: list[str]) -> list[list[float]]:
            return [[1.0, 0.0] for _ in texts]

    with pytest.raises(InvalidInput, match="embedder"):
        make_store(key=KEY, embedder=Model())
    with pytest.raises(InvalidInput, match="embedder"):
        make_store(embedder=Model()).rekey(KEY)


def test_no_repr_and_no_error_tells_the_key(make_store: MakeStore) -> None:
    """The key is nowhere to be read once it was given."""
    store = make_store(key=KEY)
    told = [repr(store), repr(store._database.cipher), store._repr_html_(), repr(vars(store))]
    with pytest.raises(WrongKey) as caught:
        Cipher.of(OTHER, store._database.cipher.salt, store._database.cipher.kept)
    told.append(str(caught.value))
    assert [each for each in told if repr(KEY)[2:20] in each or KEY.hex() in each] == []


def test_without_the_library_it_says_what_to_install(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key without the extra is refused, not passed over."""
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.kdf.hkdf", None)
    with pytest.raises(MissingExtra, match=r"memories-sdk\[encryption\]"):
        make_store(key=KEY)
