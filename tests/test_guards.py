"""Guards on writes, listeners to changes, and the guard that knows secrets by their shape."""

from __future__ import annotations

import logging
import random
import string
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories_sdk import Edit, EditConflict, MemoriesError, MemoryStore, Principal, Scope, hooks
from memories_sdk.errors import NameTaken, WriteRefused
from memories_sdk.guards import Concern, contains_secret, secrets
from memories_sdk.history import Revision
from memories_sdk.hooks import SECRETS, Plugins, Write, hookimpl

if TYPE_CHECKING:
    from conftest import MakeStore

LETTERS = string.ascii_lowercase
# Put together here, so that nobody who searches this repository for secrets finds one.
TOKEN = "ghp_" + LETTERS + "0123456789"
SHAPES = {
    "code host": TOKEN,
    "code host, fine-grained": "github_pat_11" + LETTERS,
    "code host, another": "glpat-" + LETTERS[:12] + "12345678",
    "model provider": "sk-" + LETTERS[:16],
    "model provider, capitals": "SK-" + LETTERS[:16].upper(),
    "model provider, project": "sk-proj-" + LETTERS[:10] + "0123456789",
    "model provider, versioned": "sk-ant-api03-AbCd_12-" + LETTERS,
    "model hub": "hf_" + LETTERS + "ABCDEFGH",
    "cloud, key id": "AKIA" + "1234567890ABCDEF",
    "cloud, key id in a key": "akia" + "1234567890abcdef",
    "search engine": "AIza" + LETTERS + "123456789",
    "chat": "xoxb-" + "123456789012-abcdef",
    "chat, incoming": "https://hooks.slack.com/services/T0AB/B0CD/" + LETTERS,
    "payment": "sk_live_" + LETTERS[:24],
    "package registry": "npm_" + LETTERS + "0123456789",
    "private key": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "private key without kind": "-----BEGIN " + "PRIVATE KEY-----",
    "private key of a mail program": "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----",
    "signed token": f"eyJ{LETTERS[:12]}.eyJ{LETTERS[:12]}.{LETTERS}",
    "signed token without signature": f"eyJ{LETTERS[:12]}.eyJ{LETTERS[:12]}.",
    "bearer": "Authorization: Bearer abcdef1234567890",
    "address": "postgres://admin:s3cr3tpw@db.local/x",
    "assignment": "password=hunter2",
    "assignment in JSON": '{"password": "Tr0ub4dor&3"}',
    "assignment of digits and letters": "token: 8f3a9c1d2b",
    "assignment of a cloud key": "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRf",
    "sentence": "my wifi password is Tr0ub4dor&3",
    "field": "api_key=1",
    "field in capitals": "AUTH_TOKEN",
    "field in a sentence": "access-token here",
    "random": "x " + "aB3dE6gH9jK2mN5pQ8sT1vW4",
    "assignment behind a letter that grows": "\u0130 password=Hunter2x",
    "hidden": TOKEN[:8] + "\u200b" + TOKEN[8:],
}
WORDS = """
Never mail a password
Never send a password by mail
Use a password manager
The secret menu
Ask the secretary
my api key is 1234
api keys live in the vault
Passwords must have 12 characters
password: required
password: at least 12 characters
password: argon2id hashed
The password is sent by post
the password is sha256-hashed
the token is 6 digits long
credentials: ask Bob2026
Token ring networks
passwordless login
password=$PASSWORD
password=<your password>
postgres://user:password@localhost/db
sk-learn pipelines and sk-learn-contrib-imbalanced
risk-assessmentdocumentation
AKIA is how their ids begin
Keys: C major and A minor
commit 3f786850e387550fdab836ed7e6dc881de23001b fixed it
id 018f3a2b-7c4d-7e5f-8a9b-0c1d2e3f4a5b
src/memories_sdk/widgets/static/manifest.json
com.example.project.MyVeryLongClassName2HandlerFactory
https://docs.example.org/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit
sha256-uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=
Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch
Q3-2026-KPI-Report-v2-FINAL-Draft
AAAAAAAAAAAAAAAAAAAAAAAAAAAA
DE89 3704 0044 0532 0130 00
2026-11-30T22:23:00.000000Z
Write BEGIN and a PRIVATE KEY in capitals
"""


@pytest.mark.parametrize("kind", SHAPES)
def test_a_credential_is_known_by_its_shape(kind: str) -> None:
    """A prefix with enough behind it, armour, a signed token, an assignment, mere chance."""
    assert contains_secret(SHAPES[kind])
    assert contains_secret(f"Here it is:\n{SHAPES[kind]}\nand more.")


@pytest.mark.parametrize("text", WORDS.strip().splitlines())
def test_words_about_credentials_are_none(text: str) -> None:
    """Advice, names, addresses, digests and ids may be stored as facts."""
    assert secrets({"content": text}) == []


@pytest.mark.parametrize(("size", "found"), [(24, 0.85), (40, 0.95)])
def test_most_random_keys_are_known_by_chance_alone(size: int, found: float) -> None:
    """Without any prefix; the share is what makes the rule worth having."""
    chance = random.Random(4711)  # noqa: S311 -- the same examples at every run
    keys = [
        "".join(chance.choices(string.ascii_letters + string.digits, k=size)) for _ in range(500)
    ]
    assert sum(map(contains_secret, keys)) / len(keys) > found


def test_a_concern_tells_the_beginning_alone() -> None:
    """What is refused must not stand in an error, a log or a card."""
    (concern,) = secrets({"name": "n", "content": f"x {TOKEN}", "tags": "a\nb"})
    assert str(concern) == "content seems to hold an access key (ghp_…)"
    assert secrets({"content": SHAPES["sentence"]}) == [Concern("a password or key", "content")]


def test_each_field_has_its_own_concerns() -> None:
    """A writer learns where to look; the same kind twice in a field is said once."""
    found = secrets({"name": TOKEN, "content": f"{TOKEN} {TOKEN[:-1]}", "summary": "", "tags": "x"})
    assert [(each.field, each.kind) for each in found] == [
        ("name", "an access key"),
        ("content", "an access key"),
    ]


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    """The guard never fails, and tells the same at every look."""
    assert secrets({"content": text}) == secrets({"content": text})


WRITES: dict[str, Callable[[Scope, str], object]] = {
    "body": lambda shelf, text: shelf.save("n", "fact", text),
    "new body": lambda shelf, text: shelf.save("there", "fact", text),
    "created body": lambda shelf, text: shelf.create("n", "fact", text),
    "updated body": lambda shelf, text: shelf.update(shelf.get("there", "fact").id, content=text),
    "replaced passage": lambda shelf, text: shelf.replace(
        "there", "fact", find="half", new_text=text
    ),
    "passages that join": lambda shelf, text: shelf.replace_by_id(
        shelf.get("there", "fact").id,
        edits=[Edit("half", text[:9] + "half"), Edit("half", text[9:])],
    ),
    "name": lambda shelf, text: shelf.save(text, "fact", "x"),
    "new name": lambda shelf, text: shelf.update(shelf.get("there", "fact").id, name=text),
    "summary": lambda shelf, text: shelf.save("n", "fact", "x", summary=text),
    "tag": lambda shelf, text: shelf.save("n", "fact", "x", tags=["a", text]),
    "new tag": lambda shelf, text: shelf.update(shelf.get("there", "fact").id, tags=[text]),
    "document that becomes a fact": lambda shelf, text: shelf.update(
        shelf.save("m", "plan", text).memory.id, type="fact"
    ),
    "document whose summary tells": lambda shelf, text: shelf.update(
        shelf.save("m", "plan", "x", summary=text).memory.id, type="fact"
    ),
}


@pytest.mark.parametrize("way", WRITES)
def test_no_secret_becomes_a_fact_in_any_way(shelf: Scope, way: str) -> None:
    """Body, name, summary or tag, by any verb: refused with what was found, nothing stored."""
    shelf.save("there", "fact", "one half of it")
    with pytest.raises(WriteRefused) as caught:
        WRITES[way](shelf, TOKEN)
    assert caught.value.code == "write_refused"
    assert {each.kind for each in caught.value.concerns} == {"an access key"}
    assert TOKEN not in str(caught.value)
    assert shelf.recent(type="fact").memories == (shelf.get("there", "fact"),)
    assert TOKEN not in shelf.get("there", "fact").content
    assert all(TOKEN not in str(each.before) for each in shelf.history() if each.type == "fact")


@pytest.mark.parametrize("way", WRITES)
def test_plain_words_become_facts_in_every_way(shelf: Scope, way: str) -> None:
    """The word alone never stands in the way."""
    shelf.save("there", "fact", "one half of it")
    WRITES[way](shelf, "password")
    assert shelf.recent(type="fact", containing="password").total == (0 if "summary" in way else 1)


def test_a_document_keeps_its_secret_and_the_shelf_can_tell(shelf: Scope) -> None:
    """A report is no refusal: whoever shows the document can show the warning."""
    memory = shelf.save("setup", "documentation", f"export KEY={TOKEN}").memory
    assert TOKEN in memory.content
    (concern,) = shelf.inspect(memory.type, content=memory.content)
    assert concern.kind == "an access key"


def test_the_mere_field_of_a_credential_is_not_reported_for_documents(shelf: Scope) -> None:
    """A page about an interface names its fields on every line."""
    assert shelf.inspect("documentation", content="pass api_key as a header") == []
    assert [each.certain for each in shelf.inspect("fact", content="api_key")] == [False]


class Guard:
    """A guard that finds a word, and remembers what it was asked."""

    def __init__(self, *, refuse: bool = True) -> None:
        self.seen: list[Write] = []
        self.refuse = refuse

    @hookimpl
    def write_guard(self, write: Write) -> Iterable[Concern] | None:
        """Find the word."""
        self.seen.append(write)
        if "rumour" in write.texts.get("content", ""):
            return [Concern("a rumour", "content", refuse=self.refuse)]
        return None


def test_another_guard_may_refuse_documents_too(store: MemoryStore, shelf: Scope) -> None:
    """It says so in its concern, and its words stand in the error."""
    store.plugins.register(Guard())
    with pytest.raises(WriteRefused, match="Not stored: content seems to hold a rumour"):
        shelf.save("n", "plan", "a rumour")
    assert shelf.list().total == 0


def test_a_concern_that_does_not_refuse_is_a_report(store: MemoryStore, shelf: Scope) -> None:
    """Without `refuse`, documents pass and facts do not."""
    store.plugins.register(Guard(refuse=False))
    shelf.save("n", "plan", "a rumour")
    assert [str(each) for each in shelf.inspect("plan", content="a rumour")] == [
        "content seems to hold a rumour"
    ]
    with pytest.raises(WriteRefused):
        shelf.save("n", "fact", "a rumour")


def test_a_guard_sees_what_is_new_and_who_writes(store: MemoryStore, alice: Principal) -> None:
    """Shelf, actor, type and the new texts; what stays as it is is not shown again."""
    store.plugins.register(guard := Guard())
    shelf = store.scope(acting_as=alice, actor="agent:writer")
    shelf.save("N", "fact", "x", tags=["a", "b"])
    shelf.update(shelf.get("n", "fact").id, summary="One")
    assert guard.seen == [
        Write(shelf.key, "agent:writer", "fact", {"name": "n", "content": "x", "tags": "a\nb"}),
        Write(shelf.key, "agent:writer", "fact", {"summary": "One"}),
    ]


class Slow:
    """A guard that writes to the same store while it looks."""

    def __init__(self, write: Callable[[], object]) -> None:
        self.write = write
        self.times = 0

    @hookimpl
    def write_guard(self, write: Write) -> None:
        """Write once, when something new comes."""
        if "new" in write.texts.get("content", "") and not self.times:
            self.times += 1
            self.write()


@pytest.mark.parametrize("verb", ["save", "create", "update", "replace"])
def test_the_store_is_not_locked_while_a_guard_looks(
    store: MemoryStore, shelf: Scope, verb: str
) -> None:
    """A guard may take its time: others write meanwhile, from the same thread even."""
    memory = shelf.save("n", "plan", "old").memory
    store.plugins.register(slow := Slow(lambda: shelf.save("other", "plan", "x")))
    {
        "save": lambda: shelf.save("n", "plan", "new"),
        "create": lambda: shelf.create("m", "plan", "new"),
        "update": lambda: shelf.update(memory.id, content="new"),
        "replace": lambda: shelf.replace("n", "plan", find="old", new_text="new"),
    }[verb]()
    assert slow.times == 1
    assert shelf.get("other", "plan").content == "x"


def test_what_comes_between_look_and_write_is_looked_at_too(
    store: MemoryStore, shelf: Scope
) -> None:
    """Two halves of a secret, put in by two writers at once, do not make one."""
    shelf.save("n", "fact", "half old")
    halves = Slow(lambda: shelf.replace("n", "fact", find="half", new_text=TOKEN[:9] + "half"))
    store.plugins.register(halves)
    with pytest.raises(WriteRefused):
        shelf.replace("n", "fact", find="half old", new_text=TOKEN[9:] + "new")
    assert shelf.get("n", "fact").content == TOKEN[:9] + "half old"


def test_a_type_that_changes_between_look_and_write_is_a_conflict(
    store: MemoryStore, shelf: Scope
) -> None:
    """The rules of one vocabulary were applied; they may not be those of the other."""
    memory = shelf.save("n", "plan", "old").memory
    store.plugins.register(Slow(lambda: shelf.update(memory.id, type="fact")))
    with pytest.raises(EditConflict):
        shelf.update(memory.id, content="new " + "x" * 2_000)
    assert shelf.get("n", "fact").content == "old"


class Broken:
    """A guard that fails."""

    @hookimpl
    def write_guard(self, write: Write) -> None:
        """Fail."""
        raise RuntimeError(write.texts["content"])


def test_a_guard_that_fails_lets_nothing_through(
    store: MemoryStore, shelf: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    """What nobody looked at is not stored; the failure is in the log."""
    store.plugins.register(Broken())
    with caplog.at_level(logging.ERROR), pytest.raises(WriteRefused, match="failed"):
        shelf.save("n", "plan", "x")
    assert shelf.list().total == 0
    assert [record.exc_info is not None for record in caplog.records] == [True]


def test_a_guard_may_raise_an_error_of_ours(store: MemoryStore, shelf: Scope) -> None:
    """A refusal with a code of its own arrives as it was raised."""

    class Quota:
        @hookimpl
        def write_guard(self) -> None:
            raise NameTaken("Full.")

    store.plugins.register(Quota())
    with pytest.raises(NameTaken, match="Full"):
        shelf.save("n", "plan", "x")


class Diary:
    """A listener that keeps what it hears, and what it can read at that moment."""

    def __init__(self, read: Callable[[], object] = lambda: None) -> None:
        self.heard: list[Sequence[Revision]] = []
        self.read = read

    @hookimpl
    def memory_changed(self, changes: Sequence[Revision]) -> None:
        """Keep it."""
        self.heard.append(changes)
        self.read()


def test_a_listener_hears_what_the_history_keeps(store: MemoryStore, shelf: Scope) -> None:
    """One call for each verb, with all its parts in order, equal to the stored revisions."""
    store.plugins.register(diary := Diary())
    one = shelf.create("one", "plan", "x", tags=["a"])
    shelf.create("two", "fact", "y")
    shelf.update(one.id, content="z", tags=[])
    shelf.move(one.id, after=shelf.get("two", "fact").id)
    shelf.clear()
    shelf.undo()
    assert [[each.action for each in changes] for changes in diary.heard] == [
        ["create"],
        ["create"],
        ["update"],
        ["move"],
        ["clear", "clear"],
        ["restore", "restore"],
    ]
    heard = [each for changes in diary.heard for each in changes]
    assert heard == list(shelf.changes())


def test_a_listener_is_called_after_the_commit(store: MemoryStore, shelf: Scope) -> None:
    """It can read what it heard of, and write in its turn."""
    seen = []
    diary = Diary(lambda: seen.append(shelf.list().total))
    store.plugins.register(diary)
    shelf.save("n", "plan", "x")
    assert seen == [1]
    diary.read = lambda: len(diary.heard) < 3 and shelf.save("m", "plan", "y")
    shelf.save("n", "plan", "z")
    assert shelf.get("m", "plan").content == "y"


def test_a_write_that_fails_is_not_announced(store: MemoryStore, shelf: Scope) -> None:
    """Neither a refusal nor a rollback nor a change of nothing is heard of."""
    shelf.save("n", "plan", "x")
    store.plugins.register(diary := Diary())
    with pytest.raises(NameTaken):
        shelf.create("n", "plan", "y")
    with pytest.raises(WriteRefused):
        shelf.save("m", "fact", TOKEN)
    shelf.update(shelf.get("n", "plan").id)
    shelf.clear(type="fact")
    assert diary.heard == []


def test_a_listener_that_fails_breaks_nothing(
    store: MemoryStore, shelf: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    """The write stands, the other listeners hear of it, and the log tells."""
    before, after = Diary(), Diary()
    store.plugins.unregister(SECRETS)
    store.plugins.register(before, name="before")

    class Failing:
        @hookimpl
        def memory_changed(self) -> None:
            msg = "listener"
            raise RuntimeError(msg)

    store.plugins.register(Failing(), name="failing")
    store.plugins.register(after, name="after")
    with caplog.at_level(logging.ERROR):
        saved = shelf.save("n", "plan", "x")
    assert shelf.get("n", "plan") == saved.memory
    assert len(before.heard) == len(after.heard) == 1
    assert [record.args for record in caplog.records] == [("failing",)]


def test_the_built_in_guard_can_be_taken_out(store: MemoryStore, shelf: Scope) -> None:
    """Whoever knows better decides so for one store, in code."""
    assert store.plugins.names() == [SECRETS]
    store.plugins.unregister(SECRETS)
    assert shelf.save("n", "fact", TOKEN).created
    assert repr(store.plugins) == "<Plugins >"
    with pytest.raises(ValueError, match="no plugin is named"):
        store.plugins.unregister(SECRETS)


def test_plugins_are_one_stores_own(make_store: MakeStore) -> None:
    """What one store lets through, another one still refuses."""
    make_store("one.db").plugins.unregister(SECRETS)
    assert make_store("two.db").plugins.names() == [SECRETS]


def installed(monkeypatch: pytest.MonkeyPatch, *values: str) -> None:
    """Pretend that installed packages bring plugins."""
    points = [EntryPoint(value.rpartition(":")[2], value, hooks.GROUP) for value in values]
    monkeypatch.setattr(
        hooks, "entry_points", lambda *, group: [it for it in points if it.group == group]
    )
    monkeypatch.setattr(hooks, "_installed", hooks._installed.__wrapped__)


def test_an_installed_package_brings_its_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class is made an object; the plugin has the name of its entry point."""
    installed(monkeypatch, "memories_sdk.hooks:SecretGuard")
    plugins = Plugins()
    assert plugins.names() == [SECRETS, "SecretGuard"]
    write = Write("global:1", "user:alice", "fact", {"content": TOKEN})
    assert len(plugins.concerns(write)) == 2


def test_a_plugin_that_cannot_be_loaded_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard that is silently missing would be worse than a store that does not open."""
    installed(monkeypatch, "memories_sdk.nothing:Guard")
    with pytest.raises(MemoriesError, match="'Guard' cannot be loaded"):
        MemoryStore(":memory:")
