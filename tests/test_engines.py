"""Stores on a server: what is said of them that is not said of every store."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import StringIO

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from bench import growth
from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    NullPool,
    String,
    Table,
    create_engine,
    inspect,
    text,
)
from sqlalchemy.dialects.mysql.reserved_words import RESERVED_WORDS_MYSQL
from sqlalchemy.schema import CreateIndex, CreateTable

from memories_sdk import MemoryStore, migrations, wording
from memories_sdk.engines import opened, shape
from memories_sdk.engines.server import ServerConnection, ServerDatabase
from memories_sdk.errors import (
    InvalidInput,
    MissingExtra,
    SchemaMismatch,
    StorageError,
    StoreBusy,
    StoreClosed,
    StoreInterrupted,
    StoreReadOnly,
    StoreUnavailable,
)
from memories_sdk.statements import memories

SERVERS = {"postgresql": "MEMORIES_TEST_POSTGRES", "mariadb": "MEMORIES_TEST_MYSQL"}
on_servers = pytest.mark.engines(*SERVERS)
on_postgresql = pytest.mark.engines("postgresql")


@pytest.mark.parametrize("server", SERVERS)
def test_every_store_test_runs_on_a_server_too(server: str) -> None:
    """A server that is not there is seen in the summary, once, with what to set."""
    if not os.environ.get(SERVERS[server]):
        pytest.skip(f"no tests on {server}: set {SERVERS[server]} to the URL of a database")
    with plain(os.environ[SERVERS[server]]) as connection:
        assert connection.execute(text("SELECT 1")).scalar() == 1


@contextmanager
def plain(url: str):
    """Lend a connection of SQLAlchemy's to the database of a store."""
    scheme, _, rest = url.partition("://")
    driver = {"postgresql": "postgresql+psycopg", "mariadb": "mysql+pymysql"}[scheme]
    engine = create_engine(f"{driver}://{rest}", isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        yield connection


@contextmanager
def bare(url: str):
    """Lend a connection to a database without any table; afterwards it is one for stores again."""
    with plain(url) as connection:
        drop_all(connection)
        yield connection
        drop_all(connection)
    MemoryStore(url).close()


def drop_all(connection) -> None:
    """Take away every table."""
    found = MetaData()
    found.reflect(connection)
    found.drop_all(connection)


def test_names_are_told_apart_and_sorted_by_code_point(shelf):
    """Case, accents and the order of a language make no name equal, and none come first."""
    names = ["Z", "a", "A", "á", "a\u0323", "b", "ß", "ss", "z", "~", "一", "\U0001f600", "\uffee"]
    for name in names:
        shelf.save(name, "plan", name, order=1)
    stored = {head.name for head in shelf.list()}
    assert len(stored) == len(names)
    assert [head.name for head in shelf.list()] == sorted(stored)
    assert shelf.get("a", "plan").content == "a"


def test_the_largest_body_comes_back_byte_for_byte(shelf):
    """A megabyte of signs of four bytes, of quotes and of what escapes elsewhere."""
    for body in ("\U0001f600" * (1 << 18), "\\'\"%s;--\n\r\t\x1a:name" * 50_000):
        shelf.save("n", "plan", body)
        assert shelf.get("n", "plan").content == body


@on_servers
@pytest.mark.parametrize("hot", [True, False], ids=["one memory", "one shelf"])
def test_sixteen_processes_lose_nothing(where, make_store, hot):
    """Each of 16 processes that write at once finds all that it wrote, and the seals hold."""
    url = where("memories.db")
    store = make_store()
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.save("log", "plan", "")
    script = f"""
import sys
from memories_sdk import Edit, MemoryStore
number = sys.argv[1]
with MemoryStore({url!r}) as store:
    shelf = store.scope(acting_as=store.principals.user("alice"))
    for each in range(8):
        if {hot}:
            done = False
            while not done:
                memory = shelf.get("log", "plan")
                try:
                    line = f"{{number}}.{{each}};"
                    new = memory.content + line
                    shelf.save("log", "plan", new, expected_version=memory.version)
                    done = True
                except Exception as error:
                    if getattr(error, "code", "") != "edit_conflict":
                        raise
        else:
            shelf.save(f"{{number}}.{{each}}", "plan", "x")
"""
    command = [sys.executable, "-W", "error", "-c", script]
    running = [
        subprocess.Popen([*command, str(number)], stderr=subprocess.PIPE, text=True)
        for number in range(16)
    ]
    failures = [each.communicate()[1] for each in running]
    assert failures == [""] * 16
    expected = {f"{number}.{each}" for number in range(16) for each in range(8)}
    if hot:
        assert set(shelf.get("log", "plan").content.split(";")) - {""} == expected
        assert shelf.get("log", "plan").version == 16 * 8 + 1
    else:
        heads = [head for head in shelf.list(limit=500) if head.name != "log"]
        assert {head.name for head in heads} == expected
        assert len({head.order for head in heads}) == len(heads)
    assert store.verify() == []


@on_servers
def test_a_lost_connection_is_replaced_unseen(store, shelf, places, engine):
    """A server that was restarted costs an idle store nothing but a new connection."""
    shelf.save("n", "plan", "before")
    cut(places(engine))
    assert shelf.get("n", "plan").content == "before"
    cut(places(engine))
    shelf.save("n", "plan", "after")
    assert shelf.get("n", "plan").version == 2
    assert store.verify() == []


@on_servers
def test_a_connection_lost_inside_a_write_has_it_carried_out_anew(shelf, places, engine):
    """The server rolled it back, so it is safe; nothing is written twice."""
    cuts = iter([True, False, False])

    original = shelf._setting.database.write

    def write(**options):
        transaction = original(**options)
        if next(cuts):
            cut_inside(transaction, places(engine))
        return transaction

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelf._setting.database, "write", write)
        shelf.save("n", "plan", "x")
    assert [each.version for each in shelf.history()] == [1]


def cut_inside(transaction, places):
    """Cut the connection of a transaction as soon as it has begun."""
    enter = type(transaction).__enter__

    class Cut(type(transaction)):
        __slots__ = ()

        def __enter__(self):
            connection = enter(self)
            cut(places)
            return connection

    transaction.__class__ = Cut


def cut(places) -> None:
    """End every connection of the stores of this process: other tests may run beside it."""
    stores = f"{places.prefix}%%"
    if places.postgresql:
        places.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"  # noqa: S608 -- a name of ours
            f" WHERE application_name LIKE '{stores}'"
        )
        return
    with places.engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT id FROM information_schema.processlist"  # noqa: S608 -- a name of ours
            f" WHERE db LIKE '{stores}'"
        ).fetchall()
    for (number,) in rows:
        places.run(f"KILL {number}")


@on_servers
def test_a_write_whose_fate_is_unknown_says_so(shelf):
    """A connection lost at the commit is told as that, and nothing is done twice."""
    database = shelf._setting.database
    calls = []

    def lost(*_):
        calls.append(1)
        return "lost"

    with pytest.MonkeyPatch.context() as patch:
        run = database_connection(database).run

        def cut_commit(self, statement, parameters=None):
            if statement == "COMMIT":
                patch.setattr(type(database), "failure", lost)
                raise type(self._database).errors(2013, "gone")
            return run(self, statement, parameters or {})

        patch.setattr(database_connection(database), "run", cut_commit)
        with pytest.raises(StoreInterrupted) as caught:
            shelf.save("n", "plan", "x")
    assert caught.value.unknown
    assert caught.value.retryable
    assert len(calls) == 1


def database_connection(database):
    """Return the class of its connections."""
    with database.read() as connection:
        return type(connection)


@on_servers
def test_a_rollback_for_another_is_repeated_for_a_bounded_time(make_store):
    """Deadlocks and conflicts between nodes are carried out anew until the timeout."""
    store = make_store(timeout=0.3)
    shelf = store.scope(acting_as=store.principals.user("alice"))
    times = []

    def refuse(*_args, **_options):
        times.append(1)
        raise StoreInterrupted(unknown=False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store._database, "write", refuse)
        with pytest.raises(StoreBusy):
            shelf.save("n", "plan", "x")
    assert len(times) > 2
    shelf.save("n", "plan", "x")


@on_servers
def test_two_shelves_locked_crosswise_both_get_through(store, alice, lab):
    """Carrying memories between two shelves from both ends at once deadlocks, and ends well."""
    team = store.scope(acting_as=alice, principal=lab)
    mine = store.scope(acting_as=alice)
    there = [team.save(f"t{n}", "plan", "x").memory.id for n in range(12)]
    here = [mine.save(f"m{n}", "plan", "x").memory.id for n in range(12)]
    with ThreadPoolExecutor(2) as pool:
        done = [
            pool.submit(lambda: [team.transfer(id, to=mine) for id in there]),
            pool.submit(lambda: [mine.transfer(id, to=team) for id in here]),
        ]
        for each in done:
            each.result()
    assert {head.name for head in mine.list()} == {f"t{n}" for n in range(12)}
    assert {head.name for head in team.list()} == {f"m{n}" for n in range(12)}
    assert store.verify() == []


@on_servers
def test_a_writer_who_waits_in_vain_is_told(make_store):
    """Another writer of the shelf that never ends: StoreBusy, after the timeout."""
    store = make_store(timeout=1)
    shelf = store.scope(acting_as=store.principals.user("alice"))
    other = store.scope(acting_as=store.principals.user("bob"))
    with store._database.write(shelf=shelf.key):
        with pytest.raises(StoreBusy):
            shelf.save("n", "plan", "x")
        other.save("n", "plan", "x")
    shelf.save("n", "plan", "x")


@on_servers
def test_a_backup_is_a_file_that_proves_itself(store, alice, tmp_path):
    """What a server held is opened from the copy as it was, with its history."""
    shelf = store.scope(acting_as=alice)
    for number in range(5):
        shelf.save(f"n{number}", "plan", f"body {number}", tags=["a"], pinned=number == 2)
    shelf.delete("n1", "plan")
    store.backup(tmp_path / "copy.db")
    with MemoryStore(tmp_path / "copy.db") as copy:
        mine = copy.scope(acting_as=copy.principals.user("alice"))
        assert list(mine.list()) == list(shelf.list())
        assert list(mine.history()) == list(shelf.history())
        assert copy.verify() == []
        assert mine.undo()[0].name == "n1"


@on_servers
def test_older_tables_are_refused_until_they_are_migrated(where, make_store):
    """A server is never migrated by an open; a migration keeps what is there."""
    store = make_store()
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.save("n", "plan", "kept")

    def upgrade(op):
        op.add_column("shelves", Column("colour", Integer()))

    newest = max(migrations.STEPS)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("memories_sdk.engines.server", "memories_sdk.tables"):
            patch.setattr(f"{module}.SCHEMA_VERSION", newest + 1)
        patch.setattr(migrations, "STEPS", {newest + 1: upgrade})
        with pytest.raises(SchemaMismatch, match="migrate"):
            make_store()
        opened(where("memories.db"), timeout=5, durability="full", migrating=True).close()
        assert make_store().scope(acting_as=shelf.caller).get("n", "plan").content == "kept"
        with plain(where("memories.db")) as connection:
            assert connection.execute(text("SELECT count(colour) FROM shelves")).scalar() == 0
    with pytest.raises(SchemaMismatch, match="newer"):
        make_store()
    with plain(where("memories.db")) as connection:
        connection.execute(text("ALTER TABLE shelves DROP COLUMN colour"))
        connection.execute(text("UPDATE memory_schema SET version = :it"), {"it": newest})


@on_servers
def test_tables_of_another_program_are_left_alone(where):
    """A table that only bears our name is never written to."""
    url = where("memories.db")
    with bare(url) as connection:
        connection.execute(text("CREATE TABLE agents (id INTEGER)"))
        with pytest.raises(SchemaMismatch, match="agents"):
            MemoryStore(url)
        assert connection.execute(text("SELECT count(*) FROM agents")).scalar() == 0


@on_servers
def test_a_failure_while_tables_are_made_leaves_none(where):
    """All of them or nothing: the next open makes them."""
    url = where("memories.db")
    with bare(url) as connection, pytest.MonkeyPatch.context() as patch:
        made = ServerDatabase.ddl
        patch.setattr(ServerDatabase, "ddl", lambda self, there: [*made(self, there), "NONSENSE"])
        with pytest.raises(StorageError):
            MemoryStore(url)
        assert inspect(connection).get_table_names() == []


@pytest.mark.engines("mariadb")
def test_half_made_tables_of_a_dead_program_are_made_anew(where):
    """A program that died over making them leaves no database that nobody can use."""
    url = where("memories.db")
    with bare(url) as connection:
        made = next(iter(opened(url, timeout=5, durability="full").ddl(set())))
        drop_all(connection)
        connection.exec_driver_sql(made)
        connection.exec_driver_sql("CREATE TABLE members (half INTEGER)")
        with MemoryStore(url, timeout=0.3) as store:
            assert store.verify() == []


@on_servers
def test_a_new_database_may_be_opened_by_many_at_once(where):
    """One of them makes the tables, and the others wait for it."""
    url = where("memories.db")
    with bare(url), ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(MemoryStore, [url] * 6))
        people = {store.principals.user("alice") for store in stores}
        for store in stores:
            store.close()
        assert len(people) == 1


@on_servers
def test_a_host_program_makes_our_tables_among_its_own(where, engine):
    """Mounted in its metadata, they are made by its migrations, and a store signs them."""
    url = where("memories.db")
    metadata = MetaData()
    Table("invoices", metadata, Column("id", Integer, primary_key=True))
    shape.mount(metadata, "postgresql" if engine == "postgresql" else "mysql")
    with bare(url) as connection:
        metadata.create_all(connection)
        with MemoryStore(url) as store:
            shelf = store.scope(acting_as=store.principals.user("alice"))
            shelf.save("n", "plan", "x")
            assert shelf.get("n", "plan").content == "x"
            assert store.verify() == []


@on_postgresql
def test_a_watch_is_told_at_once(store, alice, bob):
    """PostgreSQL tells of a change: nobody looks for it meanwhile."""
    shelf = store.scope(acting_as=alice)
    looks = []
    watch = shelf.watch(pause=60)
    look = watch._look
    watch._look = lambda seq: looks.append(1) or look(seq)
    seen: list[object] = []
    follower = threading.Thread(target=lambda: seen.extend(next(watch)))
    follower.start()
    store.scope(acting_as=bob).save("theirs", "plan", "x")
    shelf.save("mine", "plan", "x")
    follower.join(timeout=4)  # less than the look that is made in any case
    assert [each.name for each in seen] == ["mine"]
    watch.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://me:geheim@127.0.0.1:1/x", "127.0.0.1:1"),
        ("mysql://me:geheim@127.0.0.1:1/x", "127.0.0.1:1"),
    ],
)
def test_a_server_that_is_not_there_is_named_without_the_password(url: str, says: str) -> None:
    """A log may show where the store is, and never what opens it."""
    with pytest.raises(StoreUnavailable, match=says) as caught:
        MemoryStore(url, timeout=30)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "driver", "extra"),
    [("postgresql://h/x", "psycopg", "postgres"), ("mariadb://h/x", "pymysql", "mysql")],
)
def test_a_missing_driver_is_named_with_its_install_line(url, driver, extra, monkeypatch):
    """Without the extra, the error says what to install."""
    module = {"psycopg": "postgres", "pymysql": "mysql"}[driver]
    monkeypatch.setitem(sys.modules, driver, None)
    monkeypatch.delitem(sys.modules, f"memories_sdk.engines.{module}", raising=False)
    with pytest.raises(MissingExtra, match=rf"memories-sdk\[{extra}\]"):
        MemoryStore(url)


@pytest.mark.parametrize("option", ["pool=many", "prepare=-1"])
def test_an_option_that_is_no_number_is_refused(option: str) -> None:
    """What is meant for us in a URL is checked before anything is opened."""
    with pytest.raises(InvalidInput):
        MemoryStore(f"postgresql://127.0.0.1/x?{option}")


@on_servers
def test_a_small_pool_serves_many_threads(where, make_store):
    """More threads than connections take turns."""
    make_store()
    url = where("memories.db")
    with MemoryStore(f"{url}{'&' if '?' in url else '?'}pool=2&prepare=0") as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: shelf.save(f"n{n}", "plan", "x"), range(24)))
        assert shelf.list().total == 24
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store._database, "timeout", 0.1)
            with store._database.read(), store._database.read(), pytest.raises(StoreBusy):
                shelf.list()


@on_servers
def test_a_reading_half_reads_from_the_replica(where, make_store):
    """What `read_only()` returns goes there and writes nothing, no index either."""
    from memories_sdk.search import searcher  # noqa: PLC0415

    follower = make_store("other.db")
    mine = follower.scope(acting_as=follower.principals.user("alice"))
    mine.save("n", "plan", "as the replica has it")
    with (
        MemoryStore(where("memories.db"), replica=where("other.db")) as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(searcher, "SMALL", 0)
        shelf = store.scope(acting_as=store.principals.user("alice"))
        shelf.save("n", "plan", "as it is")
        reader = shelf.read_only()
        assert shelf.get("n", "plan").content == "as it is"
        assert reader.get("n", "plan").content == "as the replica has it"
        assert [hit.memory.name for hit in reader.search("replica")] == ["n"]
        with pytest.raises(StoreReadOnly):
            reader._setting.database.write()
        with plain(where("other.db")) as connection:
            assert connection.execute(text("SELECT count(*) FROM search_shelves")).scalar() == 0
    with pytest.raises(StoreClosed):
        reader.get("n", "plan")


@on_servers
def test_a_replica_without_tables_is_left_without(where):
    """One that has not caught up yet is told so; making tables there would end its following."""
    with bare(where("other.db")) as connection:
        with pytest.raises(StoreUnavailable, match="no tables"):
            MemoryStore(where("memories.db"), replica=where("other.db"))
        assert inspect(connection).get_table_names() == []


@pytest.mark.parametrize(
    ("location", "replica"),
    [
        (":memory:", "postgresql://h/x"),
        ("postgresql://h/x", "mariadb://h/x"),
        ("mariadb://h/x", "f"),
    ],
)
def test_a_replica_is_a_server_of_the_same_kind(location: str, replica: str) -> None:
    """A file has none, and none follows a server of another kind; nothing is opened for it."""
    with pytest.raises(InvalidInput, match="replica"):
        MemoryStore(location, replica=replica)


WALKS = {"postgresql": r"Seq Scan on memor", "mariadb": r"\bmemor\w* ALL |filesort|temporary"}
"""How an engine says that it reads a whole table; MariaDB also, that it sorts what it read."""


@on_servers
def test_no_verb_walks_a_table(where, make_store, engine) -> None:
    """What reads, lists and writes a shelf finds its rows by a key."""
    store = make_store()
    growth.load(growth._plain(where("memories.db")), 5_000)
    shelf = store.scope(acting_as=store.principals.user("user-7"))
    said: list[tuple[str, dict[str, object]]] = []
    run = ServerConnection.run

    def heard(self, text, parameters=None):
        said.append((text, dict(parameters or {})))
        return run(self, text, parameters or {})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerConnection, "run", heard)
        shelf.get("release plan 0003", growth._type(3))
        shelf.list(limit=50)
        shelf.save("release plan 0003", growth._type(3), "other")
        shelf.save("new", "plan", "x")
    with store._database.write() as connection:
        for text, parameters in said:
            if text.lstrip().startswith(("SELECT", "UPDATE")):
                rows = connection.run(f"EXPLAIN {text}", parameters).fetchall()
                plan = "\n".join(" ".join(map(str, row)) for row in rows)
                assert not re.search(WALKS[engine], plan), f"{text}\n{plan}"


MARIADB_ALONE = re.compile(
    r"\bRETURNING\b|nopad|\bNEXTVAL\b|\bVALUE\(|\|\||\bCREATE OR REPLACE TABLE\b"
    r"|\b(?:COLUMN|INDEX) IF (?:NOT )?EXISTS\b|\b(?:EXCEPT|INTERSECT)\b"
)
"""What MariaDB understands, and MySQL 8.0 does not."""


def statements_for_mysql() -> list[str]:
    """Return what a server that says it is MySQL is sent: tables, steps and verbs."""
    from memories_sdk.engines.mysql import MysqlDatabase  # noqa: PLC0415 -- an extra

    for types, after in ((1, True), (3, False)):
        memories.listing(types, after=after)
    known = {*wording._clauses, *(text for text, _ in wording._spelled), *MysqlDatabase.wording}
    said = wording.Wording(wording.MYSQL)
    tables = shape.shaped("mysql", collation="utf8mb4_0900_bin")
    return [
        *(said[statement].text for statement in known),
        *(str(CreateTable(each).compile(dialect=wording.MYSQL)) for each in tables.sorted_tables),
        *(
            str(CreateIndex(index).compile(dialect=wording.MYSQL))
            for each in tables.sorted_tables
            for index in each.indexes
        ),
        *migrating_on_mysql(),
        MysqlDatabase.turn,
        *(statement for kind in MysqlDatabase.begins.values() for statement in kind),
    ]


def migrating_on_mysql() -> list[str]:
    """Return what the steps of all migrations say to MySQL."""
    said = StringIO()
    options = {"as_sql": True, "output_buffer": said}
    context = MigrationContext.configure(dialect_name="mysql", opts=options)
    for upgrade in migrations.STEPS.values():
        upgrade(Operations(context))
    return said.getvalue().split(";\n\n")


def test_a_server_that_says_it_is_mysql_is_told_nothing_of_mariadb_alone() -> None:
    """No MySQL server is at hand: its words are checked instead, and the names that it reserves."""
    names = {column.name for table in shape.shaped("mysql").tables.values() for column in table.c}
    reserved = "|".join(sorted(names & RESERVED_WORDS_MYSQL))
    # Keywords are written in capitals. Behind a point, a name need not be quoted.
    unquoted = re.compile(rf"(?<![`\w'%(.])(?:{reserved})(?![`\w'])")
    statements = statements_for_mysql()
    assert len(statements) > 100
    for statement in statements:
        assert MARIADB_ALONE.search(statement) is None, statement
        assert unquoted.search(re.sub(r"'[^']*'", "''", statement)) is None, statement


def test_tables_keep_to_the_narrower_rules_of_mysql() -> None:
    """There, a key has 3,072 bytes at most, and no check may ask for a column that cascades."""
    for table in shape.shaped("mysql").tables.values():
        checks = [each for each in table.constraints if isinstance(each, CheckConstraint)]
        for key in (*table.indexes, *table.constraints):
            if not isinstance(key, (CheckConstraint, ForeignKeyConstraint)):
                assert sum(map(bytes_in_key, key.columns)) <= 3_072, key.name
            elif isinstance(key, ForeignKeyConstraint) and key.ondelete is not None:
                words = set(re.findall(r"\w+", " ".join(str(each.sqltext) for each in checks)))
                assert words.isdisjoint(key.column_keys), key.name


def bytes_in_key(column: Column) -> int:
    """Return how many bytes of an index a column takes at most."""
    if isinstance(column.type, Integer):
        return 8
    return column.type.length * (4 if isinstance(column.type, String) else 1)


SEARCHES = ("gauge", "gauge reads litres 21", "litres roses", "tulip", "名前", "reads 49")


@on_servers
@pytest.mark.parametrize("small", [True, False], ids=["small", "large"])
def test_search_answers_as_on_the_embedded_engine(make_store, small):
    """The same shelf gives the same hits with the same scores, in the same order."""
    from memories_sdk.search import searcher  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as patch, MemoryStore(":memory:") as embedded:
        if not small:
            patch.setattr(searcher, "SMALL", 0)
        shelves = []
        for store in (make_store(), embedded):
            shelf = store.scope(acting_as=store.principals.user("alice"))
            for number in range(60):
                body = f"gauge {number} reads {number * 7 % 50} litres" + " roses" * (number % 4)
                shelf.save(f"m{number:02}", "context", body + " 名前" * (number % 3 == 0))
            shelf.search("gauge")
            shelf.save("m05", "context", "tulip only")
            shelf.delete("m06", "context")
            shelves.append(shelf)
        for query in SEARCHES:
            here, there = (
                [(hit.memory.name, hit.score) for hit in shelf.search(query)] for shelf in shelves
            )
            assert here == there
        here, there = (
            shelf.relevant_for_prompt("How much does gauge 21 read?").text for shelf in shelves
        )
        assert here == there
