"""Measure each verb beside the raw `sqlite3` module and LangGraph's store; print markdown tables.

All do each round with the same arguments, in turn and in changing order, so a machine that slows
down slows them all. Afterwards the files of raw and of ours must hold the same rows.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from bench import langgraph_store
from bench.langgraph_store import LangGraph
from bench.ours import Ours
from bench.raw import Raw
from bench.shelves import Library, load, shelved
from bench.verbs import VERBS, Times, Verb, measured, refuse_difference

import memories_sdk
from memories_sdk.database import Durability

ROWS: Final = (1_000, 100_000)
QUICK: Final = 5
"""A quick run makes so many times fewer rounds, and its large store is so many times smaller."""

SEED: Final = 12
DURABILITIES: Final[dict[Durability, str]] = {
    "full": "`synchronous=FULL`, the default: a commit waits for the device",
    "process": '`synchronous=NORMAL`, durability="process": a commit does not wait',
}


class Line(NamedTuple):
    """One line of a table: the times of raw, of ours and of LangGraph's store."""

    verb: Verb
    rows: int
    raw: Times | None
    ours: Times | None
    langgraph: Times | None


@dataclass(frozen=True)
class Measurement:
    """One store on disk and how to measure on it.

    Attributes:
        folder: Holds the loaded files, `ours.db` and `langgraph.db`.
        fewer: Divides the rounds of each verb.
        clock: Nanoseconds.
        digests: Whether raw takes digests too.
    """

    library: Library
    rows: int
    folder: Path
    fewer: int
    clock: Callable[[], int]
    digests: bool

    def lines(self, durability: Durability) -> list[Line]:
        """Measure all verbs on fresh copies of the loaded files."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            raw, ours, langgraph = (
                Path(name, f"{peer}.db") for peer in ("raw", "ours", "langgraph")
            )
            for file, loaded in ((raw, "ours"), (ours, "ours"), (langgraph, "langgraph")):
                shutil.copyfile(self.folder / f"{loaded}.db", file)
            peers = (
                Raw(raw, durability, digests=self.digests),
                Ours(ours, self.library, durability),
                LangGraph(langgraph, durability),
            )
            lines = [self._line(verb, peers) for verb in VERBS]
            for peer in peers:
                peer.close()
            refuse_difference(raw, ours)
        return lines

    def _line(self, verb: Verb, peers: Sequence[object]) -> Line:
        # Not for secrets: the same seed gives each run the same rounds.
        random = Random(SEED)  # noqa: S311
        rounds = verb.arguments(self.library, random, verb.rounds // self.fewer)
        return Line(verb, self.rows, *measured(verb, peers, rounds, self.clock))


def main() -> None:
    """Measure and print."""
    options = _options()
    clock = time.thread_time_ns if options.cpu else time.perf_counter_ns
    fewer = QUICK if options.quick else 1
    tables: dict[Durability, list[Line]] = {durability: [] for durability in DURABILITIES}
    options.folder.mkdir(parents=True, exist_ok=True)
    for rows in (ROWS[0], ROWS[1] // fewer):
        library = shelved(rows)
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            folder = Path(name)
            load(library, folder / "ours.db")
            langgraph_store.load(library, folder / "langgraph.db")
            measurement = Measurement(library, rows, folder, fewer, clock, options.digests)
            for durability in DURABILITIES:
                tables[durability] += measurement.lines(durability)
    print(_heading(cpu=options.cpu, digests=options.digests))
    for durability, lines in tables.items():
        print(f"\n{DURABILITIES[durability]}\n")
        print(_table(sorted(lines, key=lambda line: VERBS.index(line.verb))))


def _heading(*, cpu: bool, digests: bool) -> str:
    python, engine = platform.python_version(), sqlite3.sqlite_version
    langgraph = version("langgraph-checkpoint-sqlite")
    what = "CPU time of one call, waiting left out" if cpu else "Time of one call"
    return (
        f"memories-sdk {memories_sdk.__version__}, Python {python}, SQLite {engine}, "
        f"langgraph-checkpoint-sqlite {langgraph}, {platform.system()} {platform.machine()}\n\n"
        f"{what}: the median in µs, in brackets the 90th percentile. Raw: the same rows read and "
        f"written by hand, SQL alone{' and the digests' if digests else ''}. Speed: raw ÷ ours and "
        "LangGraph ÷ ours."
    )


def _table(lines: Sequence[Line]) -> str:
    head = "| verb | rows | raw | ours | of raw's speed | aim | LangGraph | of LangGraph's speed |"
    return "\n".join([head, "|---|--:|--:|--:|--:|--:|--:|--:|", *map(_row, lines)])


def _row(line: Line) -> str:
    verb = line.verb
    cells = (
        verb.title,
        f"{line.rows:,}",
        _shown(line.raw),
        _shown(line.ours),
        _speed(line.raw, line.ours),
        "" if verb.aim is None else f"≥ {verb.aim}",
        _shown(line.langgraph),
        _speed(line.langgraph, line.ours),
    )
    return f"| {' | '.join(cells)} |"


def _shown(times: Times | None) -> str:
    return f"{times.median:,.0f} ({times.p90:,.0f})" if times else ""


def _speed(other: Times | None, ours: Times | None) -> str:
    return f"{other.median / ours.median:.2f}" if other and ours else ""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, 1 k and 20 k rows")
    parser.add_argument("--cpu", action="store_true", help="CPU time, for a machine that is shared")
    parser.add_argument("--digests", action="store_true", help="let raw take digests as well")
    # The system's temporary folder may lie in memory, where nothing waits for a device.
    parser.add_argument("--folder", type=Path, default=Path("build"), help="on the disk to measure")
    return parser.parse_args()


if __name__ == "__main__":
    main()
