"""An empty database on a server, for what is read out of the tables of another program."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VARIABLE = "MEMORIES_TEST_MYSQL"


@pytest.fixture
def mariadb_url() -> Iterator[str]:
    """The URL of an empty database of MariaDB or MySQL, for SQLAlchemy."""
    url = os.environ.get(VARIABLE)
    if not url:
        pytest.skip(f"no server: set {VARIABLE}")
    from sqlalchemy import create_engine  # noqa: PLC0415 - only where there is a server

    plain = f"mysql+pymysql://{url.partition('://')[2].partition('?')[0]}"
    name = f"foreign_{os.getpid()}"
    engine = create_engine(plain, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        yield f"{plain.rpartition('/')[0]}/{name}"
        connection.exec_driver_sql(f"DROP DATABASE {name}")
    engine.dispose()


@pytest.fixture(scope="session")
def build_spora() -> Callable[..., None]:
    """What makes the tables of a Spora host."""
    place = Path(__file__).parent / "spora_tables.py"
    spec = importlib.util.spec_from_file_location("spora_tables", place)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded.build
