"""From OpenWP: a table or a dump of it, escapes and prefixes and all."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from memories_sdk import MemoryStore, Scope
from memories_sdk.errors import InvalidInput
from memories_sdk.importers import openwp, sql_dump

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = """
CREATE TABLE `{name}` (
  `id` bigint NOT NULL PRIMARY KEY,
  `memory_type` varchar(40) NOT NULL,
  `memory_key` varchar(191) NOT NULL,
  `memory_value` longtext NOT NULL,
  `updated_at` datetime NOT NULL
)
"""
INSERT = "INSERT INTO"
ROWS = [
    ("preference", "tone", {"text": 'It\'s "British"; 100% \\ plain\nnow', "tags": ["style"]}),
    ("fact", "%e5%b1%b1", {"text": "Höhe 3,776 m 🗻 ');DROP TABLE x;--", "created_by": 7}),
    ("workflow", "no-json", "just text"),
    ("fact", "secret", {"text": f"ghp_{'a1B2' * 9}"}),
    ("mood", "odd", {"text": "no such type"}),
]


def rows() -> list[tuple[int, str, str, str, str]]:
    """Return the rows as OpenWP stores them, with its escapes."""
    return [
        (
            number,
            type,
            key,
            value if isinstance(value, str) else json.dumps(value),
            f"2025-01-0{number} 12:00:00",
        )
        for number, (type, key, value) in enumerate(ROWS, 1)
    ]


def quoted(text: str) -> str:
    """Return a text as mysqldump writes it."""
    for plain, escaped in (
        ("\\", "\\\\"),
        ("'", "\\'"),
        ('"', '\\"'),
        ("\n", "\\n"),
        ("\r", "\\r"),
        ("\0", "\\0"),
        ("\x1a", "\\Z"),
    ):
        text = text.replace(plain, escaped)
    return f"'{text}'"


def dump(name: str = "wp_openwp_memory") -> str:
    """Return a dump as mysqldump writes it, between other tables."""
    values = ",".join(f"({number},{','.join(map(quoted, texts))})" for number, *texts in rows())
    parts = (
        "-- MySQL dump 10.13; it's a comment\n/*!40101 SET NAMES utf8mb4 */",
        "CREATE TABLE `wp_posts` (`id` int)",
        f"{INSERT} `wp_posts` VALUES (1,'; {INSERT}')",
        f"DROP TABLE IF EXISTS `{name}`",
        TABLE.format(name=name),
        f"LOCK TABLES `{name}` WRITE",
        f"{INSERT} `{name}` VALUES {values}",
        "UNLOCK TABLES",
    )
    return "".join(f"{part};\n" for part in parts)


@pytest.fixture
def shelf() -> Iterator[Scope]:
    """The shelf that the facts come to."""
    with MemoryStore(":memory:") as store:
        yield store.scope(acting_as=store.principals.user("alice"))


def check(shelf: Scope, counts: dict[str, int]) -> None:
    """Assert that the facts are here, readable, and that what must not be stored is not."""
    assert counts == {"created": 3, "refused": 2}
    tone = shelf.get("tone", "preference")
    assert (tone.content, tone.tags) == (ROWS[0][2]["text"], ("style",))
    assert tone.updated_at.isoformat() == "2025-01-01T12:00:00+00:00"
    assert shelf.get("山", "fact").content == ROWS[1][2]["text"]
    assert shelf.history("山", "fact")[0].actor == "openwp:7"
    assert shelf.get("no-json", "workflow").content == "just text"


@pytest.fixture(params=["sqlite", "mariadb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database for a site."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'wp.db'}"
    return request.getfixturevalue("mariadb_url")


def test_a_table_comes_over(shelf: Scope, url: str) -> None:
    """From a database, whose prefix is found."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(TABLE.format(name="blog_openwp_memory"))
        names = ("id", "memory_type", "memory_key", "memory_value", "updated_at")
        table = sa.table("blog_openwp_memory", *map(sa.column, names))
        connection.execute(table.insert(), [dict(zip(names, row, strict=True)) for row in rows()])
    engine.dispose()
    check(shelf, openwp.bring_in(shelf, url).counts)


def test_a_dump_comes_over(shelf: Scope, tmp_path: Path) -> None:
    """Quotes, line breaks, escapes and comments in the dump change nothing of a text."""
    (tmp_path / "site.sql").write_text(dump(), "utf-8")
    assert openwp.bring_in(shelf, tmp_path / "site.sql", dry_run=True).counts["created"] == 3
    assert shelf.list().total == 0
    check(shelf, openwp.bring_in(shelf, tmp_path / "site.sql").counts)
    again = openwp.bring_in(shelf, tmp_path / "site.sql")
    assert again.counts == {"unchanged": 3, "refused": 2}


def test_of_several_sites_one_must_be_named(shelf: Scope, tmp_path: Path) -> None:
    """Nothing is guessed where two WordPress sites share a dump."""
    (tmp_path / "two.sql").write_text(dump("a_openwp_memory") + dump("b_openwp_memory"), "utf-8")
    with pytest.raises(InvalidInput, match="a_openwp_memory, b_openwp_memory"):
        openwp.bring_in(shelf, tmp_path / "two.sql")
    assert openwp.bring_in(shelf, tmp_path / "two.sql", prefix="b_").counts["created"] == 3
    (tmp_path / "none.sql").write_text("SELECT 1;")
    with pytest.raises(InvalidInput, match="none"):
        openwp.bring_in(shelf, tmp_path / "none.sql")


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5),
    st.integers(1, 40),
)
def test_any_text_comes_out_of_a_dump(texts: list[str], chunk: int) -> None:
    """Wherever a chunk of the file ends, each text is read to the letter."""
    values = ",".join(f"({quoted(each)})" for each in texts)
    statement = f"{INSERT} `t` (`a`) VALUES {values};"
    before, sql_dump.CHUNK = sql_dump.CHUNK, chunk
    try:
        (read,) = sql_dump.statements(io.StringIO(statement, newline=""))
    finally:
        sql_dump.CHUNK = before
    start = read.index("VALUES") + len("VALUES ")
    assert [row[0] for row in sql_dump._values(read, start)] == texts


def test_other_ways_to_write_a_row(tmp_path: Path) -> None:
    """Doubled quotes, hexadecimal, NULL, numbers, several statements, named columns."""
    (tmp_path / "x.sql").write_text(
        "INSERT IGNORE INTO x_t (a, b) VALUES ('it''s', 0x41C3A9),\n (NULL, -2.5);\n"
        "replace into `db`.`x_t` (`a`,`b`) values (_utf8mb4 'c', 3) on duplicate key update a=1;"
    )
    assert [row for _, row in sql_dump.rows_of(tmp_path / "x.sql", "_t")] == [
        {"a": "it's", "b": "Aé"},
        {"a": None, "b": -2.5},
        {"a": "c", "b": 3},
    ]


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t VALUES (1);",
        "INSERT INTO t (a) VALUES (1,2);",
        "INSERT INTO t (a) VALUES (f());",
        "INSERT INTO t (a) VALUES (",
    ],
)
def test_a_dump_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    """A row is never read half or guessed."""
    (tmp_path / "x.sql").write_text(text)
    if text.endswith("("):
        assert list(sql_dump.rows_of(tmp_path / "x.sql", "t")) == []
        return
    with pytest.raises(InvalidInput):
        list(sql_dump.rows_of(tmp_path / "x.sql", "t"))
