"""Builds databases as Spora makes them, in both versions of its schema, from its description."""

from __future__ import annotations

import sqlalchemy as sa

HOST = """
CREATE TABLE users (id INTEGER PRIMARY KEY, username VARCHAR(100));
CREATE TABLE `groups` (id INTEGER PRIMARY KEY, name VARCHAR(100));
CREATE TABLE group_members (group_id INTEGER, user_id INTEGER, role VARCHAR(10));
CREATE TABLE principals (id INTEGER PRIMARY KEY, type VARCHAR(10), user_id INTEGER,
  group_id INTEGER);
CREATE TABLE agents (id INTEGER PRIMARY KEY, name VARCHAR(100), principal_id INTEGER)
"""
V1 = """
CREATE TABLE memories (id INTEGER PRIMARY KEY, user_id INTEGER, agent_id INTEGER,
  name VARCHAR(255) NOT NULL, summary VARCHAR(500), content LONGTEXT, `order` INTEGER NOT NULL
  DEFAULT 0, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, UNIQUE (agent_id, name))
"""
V2 = """
CREATE TABLE memories (id CHAR(36) PRIMARY KEY, principal_id INTEGER, agent_id INTEGER,
  scope VARCHAR(10) NOT NULL, type VARCHAR(20) NOT NULL DEFAULT 'context', name VARCHAR(255) NOT
  NULL, summary VARCHAR(500), content LONGTEXT, `order` INTEGER NOT NULL DEFAULT 0,
  created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, scope_key VARCHAR(255) UNIQUE)
"""
PEOPLE = [
    "INSERT INTO users VALUES (1, 'ada'), (2, 'ben')",
    "INSERT INTO `groups` VALUES (7, 'lab')",
    "INSERT INTO group_members VALUES (7, 2, 'member'), (7, 1, 'owner')",
    "INSERT INTO principals VALUES (11, 'user', 1, NULL), (12, 'user', 2, NULL)",
    "INSERT INTO principals VALUES (13, 'group', NULL, 7)",
    "INSERT INTO agents VALUES (101, 'scout', 11), (102, 'clerk', 13)",
]

Row = dict[str, object]


def build(url: str, version: int, rows: list[Row], *, host: bool = True) -> None:
    """Make the tables of a version, and put these rows into `memories`."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for statement in (HOST if host else "").split(";"):
            if statement.strip():
                connection.exec_driver_sql(statement)
        connection.exec_driver_sql(V1 if version == 1 else V2)
        for statement in PEOPLE if host else []:
            connection.exec_driver_sql(statement)
        for row in rows:
            columns = {name: sa.column(name) for name in row}
            connection.execute(sa.table("memories", *columns.values()).insert().values(row))
    engine.dispose()
