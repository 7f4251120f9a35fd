"""From Spora: both versions of its schema come over with nothing lost, and only once."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from memories_sdk import MemoryStore, Scope
from memories_sdk.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from memories_sdk.importers import spora

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = dict[str, object]
    Build = Callable[..., None]

MADE, CHANGED = "2024-03-01 10:00:00", "2025-04-02 11:30:00"
TEXT = "naïve 日本 😀\r\n<b>&amp;</b> %41 \u2028end "


def row(id: object, **fields: object) -> Row:
    """Return a row of `memories`."""
    base: Row = {"id": id, "name": f"row {id}", "content": TEXT, "order": 3, "summary": None}
    return base | {"created_at": MADE, "updated_at": CHANGED} | fields


V1_ROWS = [
    row(1, user_id=1, name="tone", summary="How to write"),
    row(2, user_id=2, name="tone", content=None),
    row(3, user_id=1, agent_id=101, name="tone"),
    row(4, user_id=1, agent_id=102, name="release"),
    row(5, user_id=2, name="release"),
    row(6, user_id=None, name="nobody's"),
]
V2_ROWS = [
    row("a", scope="global", principal_id=11, type="plan", name="tone", scope_key="1"),
    row("b", scope="global", principal_id=13, type="examples", name="tone", scope_key="2"),
    row("c", scope="agent", agent_id=101, type="context", name="tone", scope_key="3"),
    row("d", scope="agent", agent_id=102, type="documentation", scope_key="4"),
    row("e", scope="global", principal_id=12, type="plan", name=" padded ", scope_key="5"),
    row(
        "f", scope="global", principal_id=12, type="plan", name="padded", scope_key="6", content="x"
    ),
    row("g", scope="global", principal_id=12, type="plan", name="x" * 240, scope_key="7"),
    row("h", scope="global", principal_id=12, type="plan", name="a\nb", scope_key="8"),
]


@pytest.fixture(params=["sqlite", "mariadb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database for Spora's tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'spora.db'}"
    return request.getfixturevalue("mariadb_url")


@pytest.fixture
def target() -> Iterator[MemoryStore]:
    """The store that the memories come to."""
    with MemoryStore(":memory:") as store:
        yield store


def shelf(store: MemoryStore, user: str, *, group: str = "", agent: str = "") -> Scope:
    """Return a shelf of somebody who came over."""
    acting = store.principals.user(user)
    owner = store.principals.group(group) if group else acting
    return store.scope(acting_as=acting, principal=owner, agent=agent or None)


def names(found: Scope) -> list[tuple[str, str]]:
    """Return types and names of a shelf."""
    return [(head.type, head.name) for head in found.list()]


def test_version_1_comes_over(target: MemoryStore, url: str, build_spora: Build) -> None:
    """Each row at its owner's, agents' own among them; equal names of two users do not clash."""
    build_spora(url, 1, V1_ROWS)
    done = spora.bring_in(target, url, types={"release": "plan"})
    assert (done.version, done.found, done.complete) == (1, 6, True)
    assert names(shelf(target, "ada")) == [("context", "tone")]
    assert sorted(names(shelf(target, "ben"))) == [("context", "tone"), ("plan", "release")]
    assert names(shelf(target, "ada", agent="scout")) == [("context", "tone")]
    assert names(shelf(target, "ada", group="lab", agent="clerk")) == [("plan", "release")]
    assert names(shelf(target, "unowned")) == [("context", "nobody's")]
    memory = shelf(target, "ada").get("tone", "context")
    assert (memory.content, memory.summary, memory.order) == (TEXT, "How to write", 3)
    assert memory.created_at == datetime.fromisoformat(MADE).replace(tzinfo=UTC)
    assert memory.updated_at == datetime.fromisoformat(CHANGED).replace(tzinfo=UTC)
    assert memory.id.version == 7
    assert target.verify() == []


def test_version_2_comes_over(target: MemoryStore, url: str, build_spora: Build) -> None:
    """Types and groups too; a name that cannot be kept is mended and said, never dropped."""
    build_spora(url, 2, V2_ROWS)
    done = spora.bring_in(target, url)
    assert (done.version, done.found, done.complete) == (2, 8, True)
    assert names(shelf(target, "ada")) == [("plan", "tone")]
    assert names(shelf(target, "ada", group="lab")) == [("examples", "tone")]
    assert names(shelf(target, "ada", agent="scout")) == [("context", "tone")]
    assert names(shelf(target, "ada", group="lab", agent="clerk")) == [("documentation", "row d")]
    assert sorted(name for _, name in names(shelf(target, "ben"))) == [
        "a b",
        "padded",
        "padded (2)",
        "x" * 200,
    ]
    details = {entry.place: entry.detail for it in done.reports.values() for entry in it.entries}
    assert details["row g"] == details["row h"] == "its name was mended"


def test_a_second_run_is_refused(target: MemoryStore, url: str, build_spora: Build) -> None:
    """Also when memories were changed since; an interrupted run is resumed, nothing twice."""
    build_spora(url, 2, V2_ROWS)
    spora.bring_in(target, url)
    ada = shelf(target, "ada")
    ada.save("tone", "plan", "changed since")
    with pytest.raises(spora.AlreadyImported):
        spora.bring_in(target, url)
    again = spora.bring_in(target, url, resume=True)
    assert again.counts.keys() <= {"unchanged", "skipped"}
    assert again.found == again.counts.total()
    assert ada.get("tone", "plan").content == "changed since"
    assert len(ada.list()) == 1


class Interrupted(Exception):
    """Somebody pulls the plug."""


def test_an_interrupted_run_is_resumed(target: MemoryStore, url: str, build_spora: Build) -> None:
    """What came over stays, the rest follows, and no row comes twice."""
    build_spora(url, 1, V1_ROWS)

    def stop(_done: int, _total: int | None) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        spora.bring_in(target, url, progress=stop)
    done = spora.bring_in(target, url, resume=True)
    assert done.complete
    assert done.counts["unchanged"] >= 1
    assert sum(len(shelf(target, who).list()) for who in ("ada", "ben", "unowned")) == 4


def test_a_dry_run_leaves_both_alone(target: MemoryStore, url: str, build_spora: Build) -> None:
    """It foretells the counts, and makes no user, group or agent."""
    build_spora(url, 2, V2_ROWS)
    foretold = spora.bring_in(target, url, dry_run=True)
    assert target.principals.everyone() == []
    assert foretold.counts == spora.bring_in(target, url).counts


def test_strict_refuses_as_spora_does(target: MemoryStore, url: str, build_spora: Build) -> None:
    """The documented refusal, with the count; nothing is written."""
    build_spora(url, 1, V1_ROWS)
    with pytest.raises(Conflict, match=r"memories_000002 cannot run: 2 agent-scoped row\(s\)"):
        spora.bring_in(target, url, strict=True)
    assert target.principals.everyone() == []


def test_the_source_is_never_written(
    target: MemoryStore, tmp_path: Path, build_spora: Build
) -> None:
    """Not one byte, and no file beside it."""
    path = tmp_path / "spora.db"
    build_spora(f"sqlite:///{path}", 1, V1_ROWS)
    before = path.read_bytes()
    spora.bring_in(target, path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["spora.db"]


def test_users_may_be_named(target: MemoryStore, url: str, build_spora: Build) -> None:
    """Where the database says nothing of its users, the caller does."""
    build_spora(url, 1, V1_ROWS[:2], host=False)
    spora.bring_in(target, url, users={1: "ada"})
    assert [str(each) for each in target.principals.everyone()] == ["user:ada", "user:user-2"]


def test_what_is_no_spora_is_refused(target: MemoryStore, tmp_path: Path) -> None:
    """A file that is missing, foreign, or only looks like one through a view."""
    with pytest.raises(NotFound):
        spora.bring_in(target, tmp_path / "missing.db")
    (tmp_path / "text.db").write_text("no database at all, but long enough to be read as one")
    with pytest.raises(StoreUnavailable):
        spora.bring_in(target, tmp_path / "text.db")
    with pytest.raises(InvalidInput):
        spora.bring_in(target, "postgresql://host/db")
    hostile = tmp_path / "view.db"
    engine = sa.create_engine(f"sqlite:///{hostile}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE secret (id, user_id, name, content)")
        connection.exec_driver_sql("CREATE VIEW memories AS SELECT * FROM secret")
    engine.dispose()
    with pytest.raises(InvalidInput):
        spora.bring_in(target, hostile)
