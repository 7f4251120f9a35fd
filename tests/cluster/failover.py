"""Kill a PostgreSQL primary under load, promote its synchronous replica, count what is missing.

    python tests/cluster/failover.py FOLDER

FOLDER must not exist yet. Needs the package `postgresql`.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from processes import Load, free_port, kill, own, run, until

from memories_sdk import MemoryStore

WRITERS = 8


def main(folder: Path) -> int:
    """Run the whole story and return how many acknowledged saves are missing."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    ports = [free_port(), free_port()]
    places = [own(folder / name, "postgres") for name in ("one", "two")]
    data = [place / "data" for place in places]

    def start(number: int, *options: str) -> None:
        given = f"-p {ports[number]} -c listen_addresses=127.0.0.1 "
        given += f"-c unix_socket_directories={places[number]} "
        given += " ".join(f"-c {option}" for option in options)
        run(
            *(programs / "pg_ctl", "-D", data[number], "-l", places[number] / "log"),
            *("-w", "-o", given, "start"),
            user="postgres",
        )

    def ask(number: int, statement: str) -> str:
        base = (programs / "psql", "-h", "127.0.0.1", "-p", ports[number], "-U", "memories")
        return run(*base, "-Atc", statement, "postgres").strip()

    run(
        *(programs / "initdb", "-D", data[0], "-A", "trust", "-U", "memories"),
        *("-E", "UTF8", "--locale=C.UTF-8"),
        user="postgres",
    )
    start(0, "max_connections=100")
    run(
        *(programs / "pg_basebackup", "-h", "127.0.0.1", "-p", ports[0], "-U", "memories"),
        *("-D", data[1], "-R", "-C", "-S", "two"),
        user="postgres",
    )
    with (data[1] / "postgresql.auto.conf").open("a") as settings:
        settings.write(
            f"primary_conninfo = 'host=127.0.0.1 port={ports[0]} user=memories"
            " application_name=two'\n"
        )
    start(1, "hot_standby=on")
    ask(0, "ALTER SYSTEM SET synchronous_standby_names = 'two'")
    ask(0, "ALTER SYSTEM SET synchronous_commit = 'on'")
    ask(0, "SELECT pg_reload_conf()")
    synced = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
    until(lambda: ask(0, synced) == "1", lambda: "the replica does not follow")
    hosts = f"127.0.0.1:{ports[0]},127.0.0.1:{ports[1]}"
    url = f"postgresql://memories@{hosts}/postgres?target_session_attrs=read-write"
    load = Load([url], WRITERS)
    try:
        replica = f"postgresql://memories@127.0.0.1:{ports[1]}/postgres"
        behind = read_behind(url, replica, lambda verb: ask(1, f"SELECT pg_wal_replay_{verb}()"))
        with load.running():
            load.wait_for(300)
            before = len(load.acknowledged)
            for pid in (data[0] / "postmaster.pid").read_text().split()[:1]:
                kill(int(pid))
            began = time.monotonic()
            run(programs / "pg_ctl", "-D", data[1], "-w", "promote", user="postgres")
            promoted = time.monotonic() - began
            load.wait_for(300)
        missing = load.lost(url, WRITERS)
        print(
            f"{before} saves, primary killed, replica promoted in {promoted:.1f} s,"
            f" {len(load.acknowledged) - before} further saves; callers met {load.errors};"
            f" {len(load.unknown)} without an answer;"
            f" reading halves saw {behind} of 1 saves that the replica had not replayed;"
            f" missing of the acknowledged: {len(missing)}"
        )
        return len(missing)
    finally:
        for pid in folder.glob("*/data/postmaster.pid"):
            kill(int(pid.read_text().split()[0]))
        shutil.rmtree(folder, ignore_errors=True)


def read_behind(url: str, replica: str, replay: Callable[[str], object]) -> int:
    """Return how many saves a reading half sees that its replica has not replayed: none."""
    with MemoryStore(url) as primary:
        primary.scope(acting_as=primary.principals.user("reader")).save("early", "plan", "x")
    until(lambda: MemoryStore(url, replica=replica).close() is None, lambda: "no tables came")
    with MemoryStore(url, replica=replica) as store:
        shelf = store.scope(acting_as=store.principals.user("reader"))
        reader = shelf.read_only()
        until(lambda: reader.get("early", "plan"), lambda: "the first save does not come")
        replay("pause")
        shelf.save("late", "plan", "x")
        assert shelf.get("late", "plan").content == "x"
        seen = [head.name for head in reader.list()].count("late")
        replay("resume")
        until(lambda: reader.get("late", "plan"), lambda: "the second save does not come")
    return seen


if __name__ == "__main__":
    sys.exit(1 if main(Path(sys.argv[1]).absolute()) else 0)
