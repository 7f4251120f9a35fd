"""Several servers as one: what was acknowledged survives the death of any of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "cluster"
GALERA = Path("/usr/lib/galera/libgalera_smm.so")


def told(script: str, *words: str) -> str:
    """Run a story and return its last line."""
    # Not in the folder of the tests: the servers' own users may not walk through that.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(SCRIPTS / script), *words, str(Path(folder) / "cluster")],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.slow
def test_a_promoted_replica_has_all_that_was_acknowledged() -> None:
    """A PostgreSQL primary is killed under load; its synchronous replica takes over."""
    if not list(Path("/usr/lib/postgresql").glob("*/bin/pg_basebackup")):
        pytest.skip("no failover: install the package postgresql")
    line = told("failover.py")
    assert "reading halves saw 0 of 1 saves" in line
    assert re.search(r"missing of the acknowledged: 0$", line)


@pytest.mark.slow
def test_a_cluster_goes_on_when_a_node_dies() -> None:
    """One of three Galera nodes is killed under load; the others go on and lack nothing."""
    if not GALERA.exists() or shutil.which("rsync") is None:
        pytest.skip("no cluster: install the packages mariadb-server, galera-4 and rsync")
    line = told("galera.py")
    assert "not seen at once through another node: 0 of 100" in line
    assert re.search(r"missing of the acknowledged: \[0, 0\]$", line)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "program"),
    [("postgresql", "/usr/lib/postgresql/*/bin/pg_ctl"), ("mariadb", "/usr/sbin/mariadbd")],
)
def test_a_restart_of_the_server_loses_nothing(engine: str, program: str) -> None:
    """Ended quickly, then killed, under sixteen writers: what was acknowledged stays."""
    if not list(Path("/").glob(program.removeprefix("/"))):
        pytest.skip(f"no restart: install the package of {engine}")
    line = told("restart.py", engine)
    assert re.search(r"not to be tried again: \[\];", line)
    assert re.search(r"missing of the acknowledged: 0$", line)
