"""Loads the server beside a bare FastAPI and SQLModel application that does the same.

    python -m bench.rest [--seconds 60] [--connections 64]

wrk sends one write in five, the rest reads. Afterwards every write that was answered is looked
for in the store.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from memories_sdk import MemoryStore

ROWS = 100
SCRIPT = Path(__file__).with_name("rest.lua")
FAREWELL = 30


class Result(NamedTuple):
    """What one server did under load."""

    name: str
    rate: float
    p50: str
    p99: str
    errors: int
    answered: int
    stored: int


@contextmanager
def running(module: str, place: Path) -> Iterator[str]:
    """Run one of the servers in a process of its own, and give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"BENCH_PLACE": str(place), "BENCH_PORT": str(port)}
    process = subprocess.Popen(  # noqa: S603 -- this project's own program
        [sys.executable, "-m", module], env=environment, stderr=subprocess.DEVNULL
    )
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{base}/health/live").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield base
    finally:
        process.terminate()
        process.wait(FAREWELL)


def load(name: str, base: str, token: str, seconds: int, connections: int) -> Result:
    """Send requests from many connections, and read what wrk says of them."""
    command = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s"]
    done = subprocess.run(  # noqa: S603 -- wrk, with literals
        [*command, "--latency", "-s", str(SCRIPT), base],
        env=os.environ | {"BENCH_TOKEN": token},
        capture_output=True,
        text=True,
        check=True,
    )
    text = done.stdout
    said = json.loads(text[text.index("RESULT ") + len("RESULT ") :].splitlines()[0])
    time.sleep(1)  # what was under way when the clock rang is answered to nobody
    headers = {"Authorization": f"Bearer {token}"}
    rows = httpx.get(f"{base}/api/v1/memories", headers=headers, timeout=120).json()
    return Result(
        name,
        float(re.findall(r"Requests/sec:\s+([0-9.]+)", text)[0]),
        f"{said['p50'] / 1000:.0f} ms",
        f"{said['p99'] / 1000:.0f} ms",
        said["errors"],
        said["created"],
        len(rows["data"]["memories"]) - ROWS,
    )


def prepared(place: Path) -> str:
    """Make a store with some rows, and return a token that may write."""
    with MemoryStore(place) as store:
        alice = store.principals.user("alice")
        shelf = store.scope(acting_as=alice)
        for number in range(ROWS):
            shelf.create(f"row-{number:03}", "context", f"The body of row {number}. " * 20)
        return store.tokens.issue(alice, access="write").secret


def main() -> None:
    """Measure both and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--connections", type=int, default=64)
    given = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed: apt-get install wrk")
    results = []
    for name, module in (
        ("memories-sdk", "bench.rest_ours"),
        ("bare FastAPI + SQLModel", "bench.rest_bare"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "memories.db"
            token = prepared(place)
            with running(module, place) as base:
                results.append(load(name, base, token, given.seconds, given.connections))
    print(f"{given.connections} connections, {given.seconds} s, one write in five, {ROWS} rows\n")
    print("| server | requests/s | p50 | p99 | errors | writes answered | found afterwards |")
    print("|---|---|---|---|---|---|---|")
    for it in results:
        print(
            f"| {it.name} | {it.rate:,.0f} | {it.p50} | {it.p99} | {it.errors} "
            f"| {it.answered:,} | {it.stored:,} |"
        )
    if any(it.errors or it.stored < it.answered for it in results[:1]):
        sys.exit("an error, or a write that is gone")


if __name__ == "__main__":
    main()
