"""Run all of it and print the tables of docs/reliability.md: `make reliability`.

`make reliability ARGS="crowd --write"` runs one part and puts its table into that page.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from memories_sdk.database import Durability
from reliability.calls import EVERYTHING, FAILURES, failures
from reliability.crowd import crowd
from reliability.device import LOADED, under_device
from reliability.imports import killed_imports
from reliability.kills import Kills, while_copying, while_migrating, while_writing
from reliability.powercut import MIXES, cuts

DOCUMENT: Final = Path(__file__).parent.parent / "docs" / "reliability.md"
PARTS: Final = ("crowd", "kills", "imports", "cuts", "calls")


def main() -> None:
    """Take the numbers and run each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=500)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument(
        "--only", action="append", choices=EVERYTHING, help="an operation whose calls shall fail"
    )
    parser.add_argument("--write", action="store_true", help=f"put the tables into {DOCUMENT.name}")
    parser.add_argument("parts", nargs="*", default=PARTS)
    given = parser.parse_args()
    if not os.environ.get(LOADED):
        sys.exit(under_device(["-m", "reliability", *sys.argv[1:]]).wait())
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "crowd": lambda: show_crowd(given.programs, given.seconds),
        "kills": lambda: show_kills(given.kills),
        "imports": lambda: show_imports(given.records),
        "cuts": lambda: show_cuts(given.cuts),
        "calls": lambda: show_calls(given.only or EVERYTHING),
    }
    print(f"{_machine()}\n")
    for part in given.parts:
        lines = []
        start = time.monotonic()
        for line in parts[part]():
            print(line, flush=True)
            lines.append(line)
        lines += ["", f"{_machine()}; {time.monotonic() - start:,.0f} s."]
        print(f"\n{lines[-1]}\n", flush=True)
        if given.write:
            write(part, lines)


def write(part: str, lines: list[str]) -> None:
    """Put what a part printed between its marks in the document."""
    begin, end = f"<!-- begin {part} -->\n", f"<!-- end {part} -->"
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    text = "\n".join(lines)
    DOCUMENT.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", encoding="utf-8")


def _machine() -> str:
    load = f"load {os.getloadavg()[2]:.0f}"
    python = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return f"{datetime.now(UTC):%Y-%m-%d}, {python}, {os.cpu_count()} cores, {load}"


def show_crowd(programs: int, seconds: float) -> Iterator[str]:
    """Yield what many programs saw."""
    found = crowd(programs, seconds)
    yield f"{programs} programs on one file for {seconds:g} s:\n"
    yield "| | calls | median ms | p99 ms | longest ms |\n|---|--:|--:|--:|--:|"
    for what in ("read", "write"):
        shown = [f"{found.percentile(what, share):.1f}" for share in (0.5, 0.99, 1)]
        yield f"| {what} | {len(found.times.get(what, [])):,} | {' | '.join(shown)} |"
    yield f"\n{found.writes:,} acknowledged changes of a memory, {found.revisions:,} revisions;"
    yield f"errors that reached a caller: {dict(found.errors) or 'none'};"
    yield f"lost, doubled or torn: {len(found.wrong)} {found.wrong[:3] or ''}".rstrip()


def show_kills(number: int) -> Iterator[str]:
    """Yield what became of programs that were killed."""
    yield "| while | kills | acknowledged | lost | damaged |\n|---|--:|--:|--:|--:|"
    rest = number // 6
    for what, run, times in (
        ("saves, replaces, moves, reorders, deletes", while_writing, number - 2 * rest),
        ("a migration", while_migrating, rest),
        ("copies of a store", while_copying, rest),
    ):
        found: Kills = run(times)
        told = f"{found.kills:,} | {found.acknowledged:,} | {found.lost} | {found.damaged}"
        yield f"| {what} | {told} |"


def show_imports(records: int) -> Iterator[str]:
    """Yield what became of an import that was killed and resumed; a tenth of it beside it."""
    heads = ("records", "killed after", "created by the last run", "memories", "names")
    yield f"| {' | '.join((*heads, 'revisions', 'damaged', 'peak MiB'))} |"
    yield "|--:|---|--:|--:|--:|--:|--:|--:|"
    for number in (records // 10, records):
        found = killed_imports(number, 3)
        killed = ", ".join(f"{each:,}" for each in found.reached)
        seen = (found.counts["created"], found.here, found.names, found.revisions)
        told = " | ".join(f"{each:,}" for each in (*seen, found.damaged, found.peak))
        yield f"| {number:,} | {killed} | {told} |"


def show_cuts(number: int) -> Iterator[str]:
    """Yield what power cuts left."""
    yield "| durability | mix | cuts | whole | else |\n|---|---|--:|--:|---|"
    durabilities: tuple[Durability, ...] = ("full", "process")
    for durability in durabilities:
        for mix in MIXES if durability == "full" else ["saves"]:
            found = cuts(mix, number, 60, durability=durability)
            whole = found.pop("whole", 0)
            yield f"| {durability} | {mix} | {number} | {whole} | {_rest(found)} |"


def show_calls(operations: Sequence[str]) -> Iterator[str]:
    """Yield what failing calls left."""
    yield "| operation | calls | " + " | ".join(FAILURES) + " |"
    yield "|---|--:|" + "---|" * len(FAILURES)
    for operation in operations:
        results = [failures(operation, failure) for failure in FAILURES]
        shown = " | ".join(_rest(found) for _, found in results)
        yield f"| {operation} | {results[0][0]} | {shown} |"


def _rest(found: Counter[str]) -> str:
    return "; ".join(f"{number} {what}" for what, number in found.most_common()) or "nothing"


if __name__ == "__main__":
    main()
