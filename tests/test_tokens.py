"""Tokens: who acts, as whom, for how long; and nothing in the database that lets anybody in."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories_sdk import AccessDenied, InvalidInput, MemoryStore, NotFound, Principal

if TYPE_CHECKING:
    from conftest import MakeStore

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_token_is_found_by_its_secret_alone(store: MemoryStore, alice: Principal) -> None:
    """Neither its id, nor a part of it, nor anything near it opens the door."""
    issued = store.tokens.issue(alice, access="write", label="notebook")
    assert store.tokens.find(issued.secret) == issued.token
    wrong = ["", "mem_", "mem_é", issued.secret[:-1], issued.secret[:-4] + "AAAA"]
    wrong += [str(issued.token.id), issued.secret.removeprefix("mem_"), "mem_" + "A" * 64]
    assert [store.tokens.find(each) for each in wrong] == [None] * len(wrong)


def test_a_secret_is_kept_nowhere(tmp_path: Path) -> None:
    """Whoever reads the file, or sees the token printed, cannot use it."""
    with MemoryStore(tmp_path / "m.db") as store:
        issued = store.tokens.issue(store.principals.user("alice"))
    assert issued.secret not in repr(issued)
    whole = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert issued.secret.encode() not in whole
    with sqlite3.connect(tmp_path / "m.db") as connection:
        (digest,) = connection.execute("SELECT digest FROM tokens").fetchone()
    connection.close()
    assert len(digest) == 32


def test_a_token_ends(make_store: MakeStore) -> None:
    """After 90 days, at the moment it was given, or never; a session with its token."""
    now = START
    store = make_store(clock=lambda: now)
    alice = store.principals.user("alice")
    usual = store.tokens.issue(alice)
    short = store.tokens.issue(alice, expires_at=START + timedelta(hours=1))
    session = store.tokens.open_session(short.token)
    endless = store.tokens.issue(alice, expires_at=None)
    now = START + timedelta(hours=1)
    found = [store.tokens.find(each.secret) for each in (usual, short, session, endless)]
    assert found == [usual.token, None, None, endless.token]
    now = START + timedelta(days=90)
    assert store.tokens.find(usual.secret) is None
    assert store.tokens.find(endless.secret) == endless.token


def test_a_revoked_token_takes_its_sessions_along(store: MemoryStore, alice: Principal) -> None:
    """From the next request on, nothing that was opened with it works."""
    issued = store.tokens.issue(alice)
    session = store.tokens.open_session(issued.token)
    assert store.tokens.find(session.secret) == session.token
    assert store.tokens.usable()
    store.tokens.revoke(str(issued.token.id))
    assert store.tokens.find(session.secret) is None
    assert store.tokens.find(issued.secret) is None
    assert not store.tokens.usable()
    (kept,) = store.tokens.all()
    assert kept.revoked_at is not None
    for unknown in ("x", str(alice.id), "00000000-0000-7000-8000-000000000000"):
        with pytest.raises(NotFound):
            store.tokens.revoke(unknown)


def test_a_token_is_for_a_user_and_whom_it_may_act_as(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal
) -> None:
    """A group never acts by itself, and nobody gets a token for a group that is not theirs."""
    carol = store.principals.user("carol")
    assert store.tokens.issue(bob, principal=lab).token.principal == lab
    for user, principal in (
        (lab, None),
        (carol, lab),
        (alice, bob),
        (Principal(99, "user", "x"),) * 2,
    ):
        with pytest.raises(AccessDenied):
            store.tokens.issue(user, principal=principal)
    with pytest.raises(InvalidInput):
        store.tokens.issue(alice, access="everything")
    with pytest.raises(InvalidInput):
        store.tokens.issue(alice, label="two\nlines")
    assert [each.user for each in store.tokens.all()] == [bob]
    assert store.tokens.all(user=alice) == []


def test_old_sessions_leave_no_rows_behind(make_store: MakeStore) -> None:
    """Browsers log in every day; what is over goes."""
    now = START
    store = make_store(clock=lambda: now)
    issued = store.tokens.issue(store.principals.user("alice"), expires_at=None)
    for day in range(3):
        now = START + timedelta(days=day)
        store.tokens.open_session(issued.token)
    with store._database.read() as connection:
        (count,) = connection.execute("SELECT count(*) FROM tokens").fetchone()
    assert count == 2
