"""Run all of it and print what docs/reliability.md shows: `make reliability`."""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Sequence

from memories_sdk.database import Durability
from reliability.calls import EVERYTHING, FAILURES, failures
from reliability.crowd import crowd
from reliability.device import LOADED, under_device
from reliability.kills import Kills, while_copying, while_migrating, while_writing
from reliability.powercut import MIXES, cuts


def main() -> None:
    """Take the numbers and run each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=500)
    parser.add_argument("--only", action="append", help="an operation whose calls shall fail")
    parser.add_argument("parts", nargs="*", default=["crowd", "kills", "cuts", "calls"])
    given = parser.parse_args()
    if not os.environ.get(LOADED):
        sys.exit(under_device(["-m", "reliability", *sys.argv[1:]]).wait())
    engine = f"SQLite {sqlite3.sqlite_version}"
    print(f"Python {platform.python_version()}, {engine}, {os.cpu_count()} cores\n")
    parts = {
        "crowd": lambda: show_crowd(given.programs, given.seconds),
        "kills": lambda: show_kills(given.kills),
        "cuts": lambda: show_cuts(given.cuts),
        "calls": lambda: show_calls(given.only or EVERYTHING),
    }
    for part in given.parts:
        start = time.monotonic()
        parts[part]()
        print(f"\n({time.monotonic() - start:.0f} s)\n", flush=True)


def show_crowd(programs: int, seconds: float) -> None:
    """Print what many programs saw."""
    found = crowd(programs, seconds)
    print(f"## {programs} programs on one file, {seconds:g} s\n")
    print("| | calls | median ms | p99 ms | longest ms |\n|---|--:|--:|--:|--:|")
    for what in ("read", "write"):
        shown = [f"{found.percentile(what, share):.1f}" for share in (0.5, 0.99, 1)]
        print(f"| {what} | {len(found.times.get(what, [])):,} | {' | '.join(shown)} |")
    print(f"\n{found.writes:,} acknowledged changes of a memory, {found.revisions:,} revisions;")
    print(f"errors that reached a caller: {dict(found.errors) or 'none'};")
    print(f"lost, doubled or torn: {len(found.wrong)} {found.wrong[:3] or ''}")


def show_kills(number: int) -> None:
    """Print what became of programs that were killed."""
    print("## Killed at a random moment\n")
    print("| while | kills | acknowledged | lost | damaged |\n|---|--:|--:|--:|--:|")
    rest = number // 6
    for what, run, times in (
        ("saves, replaces, moves, reorders, deletes", while_writing, number - 2 * rest),
        ("a migration", while_migrating, rest),
        ("copies of a store", while_copying, rest),
    ):
        found: Kills = run(times)
        told = f"{found.kills:,} | {found.acknowledged:,} | {found.lost} | {found.damaged}"
        print(f"| {what} | {told} |", flush=True)


def show_cuts(number: int) -> None:
    """Print what power cuts left."""
    print("## Power cuts\n")
    print("| durability | mix | cuts | whole | else |\n|---|---|--:|--:|---|")
    durabilities: tuple[Durability, ...] = ("full", "process")
    for durability in durabilities:
        for mix in MIXES if durability == "full" else ["saves"]:
            found = cuts(mix, number, 60, durability=durability)
            print(
                f"| {durability} | {mix} | {number} | {found.pop('whole', 0)} | {_rest(found)} |",
                flush=True,
            )


def show_calls(operations: Sequence[str]) -> None:
    """Print what failing calls left."""
    print("## Each system call of each operation fails\n")
    print(
        "| operation | calls | " + " | ".join(FAILURES) + " |\n|---|--:|" + "---|" * len(FAILURES)
    )
    for operation in operations:
        results = [failures(operation, failure) for failure in FAILURES]
        shown = " | ".join(_rest(found) for _, found in results)
        print(f"| {operation} | {results[0][0]} | {shown} |", flush=True)


def _rest(found: Counter[str]) -> str:
    return "; ".join(f"{number} {what}" for what, number in found.most_common()) or "nothing"


if __name__ == "__main__":
    main()
