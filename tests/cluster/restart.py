"""Restart a server in the middle of sixteen writers, and count what is missing.

    python tests/cluster/restart.py postgresql|mariadb FOLDER

It is shut down quickly and started again, then killed as by a power cut and started again. FOLDER
must not exist yet. Needs the package `postgresql` or `mariadb-server`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from processes import Load, free_port, kill, own, run, until

WRITERS = 16
MORE = 150
"""Saves before, between and after the two ends of the server."""


class Postgres:
    """PostgreSQL, of the newest version that is installed, as it comes."""

    def __init__(self, folder: Path) -> None:
        self.folder = own(folder / "server", "postgres")
        self.data = self.folder / "data"
        self.port = free_port()
        self.url = f"postgresql://memories@127.0.0.1:{self.port}/postgres"
        self.programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
        run(
            *(self.programs / "initdb", "-D", self.data, "-A", "trust", "-U", "memories"),
            *("-E", "UTF8", "--locale=C.UTF-8"),
            user="postgres",
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1"
        self._control("-o", f"{options} -c unix_socket_directories={self.folder}", "start")

    def shut_down(self) -> None:
        """Have it end all connections and itself, at once."""
        self._control("-m", "fast", "stop")

    def kill(self) -> None:
        """End it as a power cut would."""
        with suppress(FileNotFoundError):
            kill(int((self.data / "postmaster.pid").read_text().split()[0]))

    def _control(self, *words: object) -> None:
        base = (self.programs / "pg_ctl", "-D", self.data, "-l", self.folder / "log", "-w")
        run(*base, *words, user="postgres")


class Mariadb:
    """MariaDB, as it comes: each commit is in its log before it is acknowledged."""

    def __init__(self, folder: Path) -> None:
        self.folder = own(folder / "server", "mysql")
        self.door = self.folder / "socket"
        self.port = free_port()
        self.url = f"mariadb://memories@127.0.0.1:{self.port}/memories"
        self.process: subprocess.Popen[bytes] | None = None
        run(
            *("mariadb-install-db", "--no-defaults", f"--datadir={self.folder / 'data'}"),
            *("--auth-root-authentication-method=normal", "--skip-test-db"),
            user="mysql",
        )
        self.start()
        self._ask(
            "CREATE USER memories@'127.0.0.1'; GRANT ALL ON *.* TO memories@'127.0.0.1';"
            "CREATE DATABASE memories"
        )
        self.shut_down()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [
            *("/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.folder / 'data'}"),
            *(f"--socket={self.door}", f"--port={self.port}", "--bind-address=127.0.0.1"),
            *("--skip-name-resolve", "--innodb-flush-log-at-trx-commit=1"),
        ]
        if os.geteuid() == 0:
            command.append("--user=mysql")
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        until(lambda: self._ask("SELECT 1"), lambda: (self.folder / "log").read_text()[-3000:])

    def shut_down(self) -> None:
        """Have it end all connections and itself, at once."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait()

    def _ask(self, statement: str) -> str:
        door = f"--socket={self.door}"
        return run("mariadb", "--no-defaults", door, "--user=root", "-Ne", statement)


def main(kind: str, folder: Path) -> int:
    """Run the whole story and return how many acknowledged saves are missing."""
    server = {"postgresql": Postgres, "mariadb": Mariadb}[kind](folder)
    try:
        server.start()
        load = Load([server.url], WRITERS)
        with load.running():
            for end in (server.shut_down, server.kill):
                load.wait_for(MORE)
                end()
                # What is left of a killed one is not gone at once, and the new one waits for it.
                until(lambda: server.start() is None, lambda: f"{kind} does not start again")
            load.wait_for(MORE)
        missing = load.lost(server.url, WRITERS)
        print(
            f"{len(load.acknowledged)} saves of {WRITERS} writers around two restarts;"
            f" callers met {load.errors}, of which not to be tried again: {sorted(load.final)};"
            f" {len(load.unknown)} without an answer;"
            f" missing of the acknowledged: {len(missing)}"
        )
        return len(missing) + len(load.final)
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], Path(sys.argv[2]).absolute()) else 0)
