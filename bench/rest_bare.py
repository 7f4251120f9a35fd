"""The peer of `bench.rest`: what one writes in an hour with FastAPI and SQLModel.

The same routes, file and rows; a token in a variable, and none of the rest: no rights, no history,
no versions, no limits. SQLite has its journal in WAL and waits for the device, as ours does.
"""

from __future__ import annotations

import os
import uuid
from datetime import UTC, datetime
from typing import Annotated, Any

import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException
from sqlalchemy import event
from sqlmodel import Field, Session, SQLModel, create_engine, select

TOKEN_HEADER = "Bearer "  # noqa: S105 -- the word before it


class Row(SQLModel, table=True):
    """A memory."""

    id: str = Field(default_factory=lambda: str(uuid.uuid4()), primary_key=True)
    name: str = Field(index=True)
    type: str
    summary: str | None = None
    content: str = ""
    order: int = Field(default=0, index=True)
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class Body(SQLModel):
    """What a client sends."""

    name: str
    type: str
    content: str = ""


app = FastAPI()
engine = create_engine(
    f"sqlite:///{os.environ.get('BENCH_PLACE', ':memory:')}.bare",
    connect_args={"timeout": 30, "check_same_thread": False},
    pool_size=40,
)


@event.listens_for(engine, "connect")
def _settings(connection: Any, _record: object) -> None:  # noqa: ANN401 -- the driver's
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")


def allowed(authorization: Annotated[str, Header()] = "") -> None:
    """Refuse who sends no token."""
    if not authorization.startswith(TOKEN_HEADER):
        raise HTTPException(401)


Allowed = Depends(allowed)


@app.get("/health/live")
def live() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "ok"}


@app.get("/api/v1/memories", dependencies=[Allowed])
def listed(limit: int = 100_000, fields: str = "") -> dict[str, object]:
    """List rows, with the fields that are asked for."""
    with Session(engine) as session:
        rows = session.exec(select(Row).order_by(Row.order, Row.name).limit(limit)).all()  # type: ignore[arg-type]
        wanted = set(fields.split(",")) if fields else None
        return {"data": {"memories": [row.model_dump(include=wanted) for row in rows]}}


@app.get("/api/v1/memories/named", dependencies=[Allowed])
def shown(name: str, type: str) -> dict[str, object]:
    """Show a row."""
    with Session(engine) as session:
        found = session.exec(select(Row).where(Row.name == name, Row.type == type)).first()
        if found is None:
            raise HTTPException(404)
        return {"data": {"memory": found.model_dump()}}


@app.post("/api/v1/memories", status_code=201, dependencies=[Allowed])
def created(body: Body) -> dict[str, object]:
    """Store a row."""
    with Session(engine) as session:
        row = Row(**body.model_dump(), summary=body.content[:200])
        session.add(row)
        session.commit()
        session.refresh(row)
        return {"data": {"memory": row.model_dump()}}


def prepare() -> None:
    """Make the same rows as in ours."""
    SQLModel.metadata.create_all(engine)
    with Session(engine) as session:
        for number in range(100):
            text = f"The body of row {number}. " * 20
            session.add(Row(name=f"row-{number:03}", type="context", content=text, order=number))
        session.commit()


if __name__ == "__main__":
    prepare()
    uvicorn.run(app, port=int(os.environ["BENCH_PORT"]), access_log=False, lifespan="off")
