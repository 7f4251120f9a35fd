"""One ranking: the same answers on every engine, and nothing of another shelf in the work."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from memories_sdk import MemoryStore, Scope
from memories_sdk.search import searcher

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = (
    ("deploy", "plan", "# Release\n\nDeploy on Fridays. Never deploy without a backup.", ("ops",)),
    (
        "deploys",
        "documentation",
        "Deployed twice. The deployment failed at night; the backup saved us.",
        (),
    ),
    ("backup-rota", "plan", "Backups run at 02:00. Ask Žofia before moving them.", ("ops", "rota")),
    ("tea", "preference", "Alice likes green tea, not coffee.", ()),
    ("coffee", "preference", "Bob takes coffee with oat milk and two sugars.", ("bob",)),
    ("travel", "context", "Alice flies to Zürich in May. The hotel is at the lake.", ()),
    (
        "straße",
        "documentation",
        "Die Straßenbahn fährt um sechs vom Bahnhof ab.",
        ("züge",),
    ),
    (
        "istanbul",
        "documentation",
        "İstanbul'da ofis: ISI kapal\u0131, \u0131s\u0131 19 derece.",
        (),
    ),
    ("北京", "documentation", "北京的办公室在三楼。备份每天运行。", ("中文",)),
    ("東京", "documentation", "東京のオフィスは月曜日に休みます。バックアップは毎晩です。", ()),
    ("서울", "documentation", "서울 사무실은 삼층에 있습니다. 백업은 매일 합니다.", ()),
    ("กรุงเทพ", "documentation", "สำนักงานกรุงเทพอยู่ชั้นสาม สำรองข้อมูลทุกคืน", ()),
    ("москва", "documentation", "Резервные копии хранятся в Москве. Ёлка стоит в холле.", ()),
    ("delhi", "documentation", "हिन्दी में बैकअप की सूची। कार्यालय तीसरी मंज़िल पर है।", ()),
    ("cafe\u0301", "context", "The cafe\u0301 opens at nine; the nai\u0308ve plan was ten.", ()),
    ("repeat", "documentation", "gauge gauge gauge gauge gauge gauge gauge reads litres", ()),
)
QUERIES = (
    "deploy",
    "when do we deploy a release?",
    "backup",
    "Backups at night",
    "bakcup rota",
    "what does Alice like to drink",
    "coffee sugar milk",
    "hotel in Zurich",
    "strasse",
    "Straßenbahn Bahnhof",
    "istanbul ofis",
    "办公室",
    "バックアップ 東京",
    "백업",
    "สำนักงาน",
    "елка москва",
    "बैकअप",
    "café",
    "naïve plan",
    "gauge",
    "ops",
    "litres of tea, coffee and a backup in Zürich, 北京 and 東京",
    'a "quoted" OR NEAR(x) * -y',
    "the and of",
    "nothing-like-it",
)


ALLOWED = re.compile(
    r"SCAN (?:(?:json_each|j|CONSTANT|beginning|sqlite_master|main\.search_terms_config)\b"
    r"|\w+ VIRTUAL TABLE INDEX \d+:M)"
)
"""What the caller brought, what a statement has gathered, the schema, settings, and a match of
words that carry the number of their shelf."""


def filled(store: MemoryStore) -> Scope:
    """A shelf of sixty-odd memories, some pinned; the variations differ in length and in words."""
    shelf = store.scope(acting_as=store.principals.user("alice"))
    for number in range(4):
        for name, type, text, tags in TEXTS:
            body = f"{text}\n\n{'Note. ' * number}Seen {number} times."
            pinned = (name, number) in {("tea", 2), ("deploy", 1)}
            shelf.save(f"{name} {number}", type, body, tags=tags, pinned=pinned)
    return shelf


def answers(shelf: Scope) -> list[object]:
    """All that a shelf answers: hits with scores and passages, and what enters a prompt and why."""
    found: list[object] = []
    for query in QUERIES:
        hits = shelf.search(query, limit=20)
        passages = [
            [(each.field, each.start, each.end, each.text) for each in hit.passages] for hit in hits
        ]
        found.append((query, hits.total, [(hit.memory.name, hit.score) for hit in hits], passages))
        recall = shelf.relevant_for_prompt(query)
        report = [(each.memory.name, each.outcome, each.reason) for each in recall.report]
        found.append((query, recall.as_context(), report))
    return found


@pytest.mark.parametrize("most", [512, 0], ids=["in-memory", "indexed"])
def test_every_engine_ranks_alike(make_store, clock, tmp_path: Path, monkeypatch, most: int):
    """The same names, scores, passages and prompts as on SQLite, to the last digit."""
    monkeypatch.setattr(searcher, "SMALL", most)
    theirs = filled(make_store(clock=clock, durability="process"))
    found = answers(theirs)
    assert sum(1 for each in found if each[1]) > len(found) * 0.8
    start = type(clock)()
    with MemoryStore(tmp_path / "beside.db", clock=start, durability="process") as store:
        assert answers(filled(store)) == found


@pytest.fixture
def work(monkeypatch) -> list[str]:
    """A mark for each step that SQLite takes from now on, and each statement it is given."""
    done: list[str] = []
    connect = sqlite3.connect

    def watched(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_progress_handler(lambda: done.append(""), 1)
        connection.set_trace_callback(done.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    return done


@pytest.mark.parametrize("most", [512, 0], ids=["in-memory", "indexed"])
def test_a_search_touches_its_own_shelf_alone(tmp_path: Path, monkeypatch, work, most: int):
    """Cold and warm, no statement walks a table, and other shelves add next to no steps."""
    monkeypatch.setattr(searcher, "SMALL", most)
    steps: dict[int, list[int]] = {}
    for others in (0, 49):
        path = tmp_path / f"{others}.db"
        with MemoryStore(path, durability="process") as store:
            mine = filled(store)
            mine.search("backup")
            for number in range(others):
                other = store.scope(acting_as=store.principals.user(f"user-{number}"))
                for name, type, text, tags in TEXTS:
                    other.save(name, type, text, tags=tags)
                other.search("backup")
        with MemoryStore(path, durability="process") as store:
            mine = store.scope(acting_as=store.principals.user("alice"))
            steps[others] = []
            for query in ("backup in Zürich", "backup in Zürich", "coffee or tea"):
                work.clear()
                assert mine.search(query)
                assert mine.relevant_for_prompt(query)
                steps[others].append(work.count(""))
                assert {said: walks(path, said) for said in work if walks(path, said)} == {}
    # Thirteen times the memories; trees may be deeper, and the index have more parts.
    assert all(many < 1.3 * one for one, many in zip(steps[0], steps[49], strict=True)), steps


def walks(path: Path, statement: str) -> list[str]:
    """The steps of a statement that read a table of ours from end to end."""
    if not statement.lstrip().startswith(("SELECT", "WITH")):
        return []
    with closing(sqlite3.Connection(path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    return [step for *_, step in plan if step.startswith("SCAN") and not ALLOWED.match(step)]
