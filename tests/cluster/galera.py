"""Kill one of three Galera nodes under load, and count what is missing on the others.

Before that, look through another node for saves that were acknowledged a moment ago.

    python tests/cluster/galera.py FOLDER

FOLDER must not exist yet. Needs the packages `mariadb-server`, `galera-4` and `rsync`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from processes import Load, free_port, kill, own, run, until

from memories_sdk import MemoryStore

WRITERS = 6
LOOKS = 100
LIBRARY = "/usr/lib/galera/libgalera_smm.so"


class Node:
    """One node of the cluster."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folder = own(folder / name, "mysql")
        self.port, self.group, self.transfer, self.state = (free_port() for _ in range(4))
        self.process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Make its system tables."""
        run(
            *("mariadb-install-db", "--no-defaults", f"--datadir={self.folder / 'data'}"),
            *("--auth-root-authentication-method=normal", "--skip-test-db"),
            user="mysql",
        )

    def start(self, nodes: list[Node], *, first: bool) -> None:
        """Start it, as the first of the cluster or to join the others."""
        group = ",".join(f"127.0.0.1:{node.group}" for node in nodes)
        options = (
            f"base_port={self.group};gmcast.listen_addr=tcp://127.0.0.1:{self.group};"
            f"ist.recv_addr=127.0.0.1:{self.transfer};gcache.size=32M"
        )
        command = [
            *("/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.folder / 'data'}"),
            *(f"--socket={self.folder / 'socket'}", f"--port={self.port}"),
            *("--bind-address=127.0.0.1", "--skip-name-resolve", "--binlog-format=ROW"),
            *("--innodb-autoinc-lock-mode=2", "--innodb-flush-log-at-trx-commit=1"),
            *("--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M"),
            *("--wsrep-on=ON", f"--wsrep-provider={LIBRARY}", f"--wsrep-node-name={self.name}"),
            f"--wsrep-cluster-address=gcomm://{'' if first else group}",
            f"--wsrep-node-address=127.0.0.1:{self.group}",
            f"--wsrep-node-incoming-address=127.0.0.1:{self.port}",
            "--wsrep-sst-method=rsync",
            f"--wsrep-sst-receive-address=127.0.0.1:{self.state}",
            f"--wsrep-provider-options={options}",
        ]
        if os.geteuid() == 0:
            command.append("--user=mysql")
        with (self.folder / "log").open("w") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        ready = "SHOW STATUS LIKE 'wsrep_ready'"
        until(lambda: "ON" in self.ask(ready), lambda: (self.folder / "log").read_text()[-3000:])

    def ask(self, statement: str) -> str:
        """Run a statement as root."""
        door = f"--socket={self.folder / 'socket'}"
        return run("mariadb", "--no-defaults", door, "--user=root", "-Ne", statement)

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None:
            kill(self.process.pid)
            self.process.wait()


def main(folder: Path) -> int:
    """Run the whole story and return how many acknowledged saves are missing."""
    nodes = [Node(folder, name) for name in ("one", "two", "three")]
    try:
        for node in nodes:
            node.prepare()
            node.start(nodes, first=node is nodes[0])
        nodes[0].ask(
            "CREATE USER memories@'127.0.0.1'; GRANT ALL ON *.* TO memories@'127.0.0.1';"
            "CREATE DATABASE memories"
        )
        # Each writer has a node of its own and, should that die, the two others.
        urls = []
        for number in range(len(nodes)):
            turned = nodes[number:] + nodes[:number]
            hosts = ",".join(f"127.0.0.1:{node.port}" for node in turned)
            urls.append(f"mariadb://memories@{hosts}/memories")
        load = Load(urls, WRITERS)
        with load.running():
            load.wait_for(200)
            unseen = unseen_elsewhere(*urls[:2])
            before = len(load.acknowledged)
            nodes[2].kill()
            load.wait_for(200)
        missing = [load.lost(url, WRITERS) for url in urls[:2]]
        size = nodes[0].ask("SHOW STATUS LIKE 'wsrep_cluster_size'").split()[-1]
        print(
            f"{before} saves, one of three nodes killed, {len(load.acknowledged) - before}"
            f" further saves on the {size} others; callers met {load.errors};"
            f" {len(load.unknown)} without an answer;"
            f" not seen at once through another node: {unseen} of {LOOKS};"
            f" missing of the acknowledged: {[len(each) for each in missing]}"
        )
        return unseen + sum(map(len, missing))
    finally:
        for node in nodes:
            node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def unseen_elsewhere(here: str, there: str) -> int:
    """Return how many saves through one node are not seen at once through another."""
    unseen = 0
    with MemoryStore(here) as one, MemoryStore(there) as other:
        shelf = one.scope(acting_as=one.principals.user("reader"))
        same = other.scope(acting_as=other.principals.user("reader"))
        for each in range(LOOKS):
            version = shelf.save("log", "plan", f"line {each}").memory.version
            unseen += same.get("log", "plan").version < version
    return unseen


if __name__ == "__main__":
    sys.exit(1 if main(Path(sys.argv[1]).absolute()) else 0)
