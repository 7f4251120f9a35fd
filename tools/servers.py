"""Start a PostgreSQL and a MariaDB server for the tests, on loopback, and stop them again.

    eval "$(python tools/servers.py start FOLDER)"     # exports the two variables
    python tools/servers.py stop FOLDER

Their data is in FOLDER and is worth nothing: they never wait for a device. Needs the packages
`postgresql` and `mariadb-server`; run by root, they become the users that those packages made.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from ports import free_port

PATIENCE = 60
"""Seconds that a server may take to start."""

POSTGRES_OPTIONS = "fsync=off full_page_writes=off synchronous_commit=off max_connections=200"
MARIADB_OPTIONS = (
    "--skip-log-bin",
    "--skip-name-resolve",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--innodb-flush-method=nosync",
    "--max-connections=300",
)


def start(folder: Path) -> None:
    """Start both servers and print the variables to export."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # the servers' own users must be able to walk through
    port = start_postgres(folder / "postgres")
    print(f"export MEMORIES_TEST_POSTGRES=postgresql://memories@127.0.0.1:{port}/memories")
    port = start_mariadb(folder / "mariadb")
    print(f"export MEMORIES_TEST_MYSQL=mariadb://memories@127.0.0.1:{port}/memories")


def start_postgres(folder: Path) -> int:
    """Start PostgreSQL and return its port."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = programs[-1] if programs else shutil.which("initdb")
    if found is None:
        sys.exit("PostgreSQL is not installed: apt-get install postgresql")
    user = owned_by("postgres", folder)
    data = folder / "data"
    port = free_port()
    quietly(
        *(*user, found, "-D", data, "-A", "trust", "-U", "memories"),
        *("-E", "UTF8", "--locale=C.UTF-8", "--no-sync"),
    )
    options = " ".join(f"-c {each}" for each in POSTGRES_OPTIONS.split())
    options += f" -p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    control = Path(found).with_name("pg_ctl")
    quietly(*user, control, "-D", data, "-l", folder / "log", "-w", "-o", options, "start")
    (folder / "pid").write_text((data / "postmaster.pid").read_text().split()[0])
    create = Path(found).with_name("createdb")
    quietly(create, "-h", "127.0.0.1", "-p", port, "-U", "memories", "memories")
    return port


def start_mariadb(folder: Path) -> int:
    """Start MariaDB and return its port."""
    program = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        sys.exit("MariaDB is not installed: apt-get install mariadb-server")
    user = owned_by("mysql", folder)
    data, door = folder / "data", folder / "socket"
    quietly(
        *(*user, "mariadb-install-db", "--no-defaults", f"--datadir={data}"),
        *("--auth-root-authentication-method=normal", "--skip-test-db"),
    )
    port = free_port()
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [
                *(*user, program, "--no-defaults", f"--datadir={data}", f"--socket={door}"),
                *(f"--port={port}", "--bind-address=127.0.0.1", f"--pid-file={folder / 'pid'}"),
                *MARIADB_OPTIONS,
            ],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    set_up = (
        "CREATE USER memories@'127.0.0.1'; GRANT ALL ON *.* TO memories@'127.0.0.1';"
        "CREATE DATABASE memories"
    )
    end = time.monotonic() + PATIENCE
    client = ["mariadb", "--no-defaults", f"--socket={door}", "--user=root", "-e", set_up]
    while subprocess.run(client, capture_output=True, check=False).returncode:
        if server.poll() is not None or time.monotonic() > end:
            sys.exit((folder / "log").read_text())
        time.sleep(0.2)
    return port


def stop(folder: Path) -> None:
    """Stop both servers and remove their data."""
    for pid in folder.glob("*/pid"):
        number = int(pid.read_text())
        os.kill(number, signal.SIGTERM if pid.parent.name == "mariadb" else signal.SIGINT)
        end = time.monotonic() + PATIENCE
        while Path(f"/proc/{number}").exists() and time.monotonic() < end:
            time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


def owned_by(user: str, folder: Path) -> list[str]:
    """Make a folder that the server's user owns; return what puts a command into its hands."""
    folder.mkdir()
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, user, user)
    return ["runuser", "-u", user, "--"]


def quietly(*command: object) -> None:
    """Run a command; show what it said only when it fails."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, cwd="/"
    )
    if done.returncode:
        sys.exit(f"{done.args}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    {"start": start, "stop": stop}[sys.argv[1]](Path(sys.argv[2]).absolute())
