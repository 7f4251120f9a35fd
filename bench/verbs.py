"""Which verbs are measured, on what, how often, and how a round is timed."""

from __future__ import annotations

import sqlite3
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from bench.shelves import Document, Library, text

Arguments = Iterator[tuple[object, ...]]

SLOW_PLACE: Final = 0.9

_SAME: Final = (
    """
    SELECT scope_key, type, name, summary, summary_derived, tags, pinned, position, version, size,
      content
    FROM memories JOIN memory_bodies USING (row)
    """,
    """
    SELECT scope_key, action, actor, version, type, name,
      json_remove(before, '$.previous', '$.next'), before_content
    FROM memory_revisions
    """,
)
"""What raw and ours must agree on; ids and times of new rows are their own."""


class Verb(NamedTuple):
    """One line of the table.

    Attributes:
        method: The name of the peers' method.
        rounds: How often it is called in a full run.
        aim: The least fraction of raw speed that the project asks of it.
        arguments: Yields the arguments of each round.
    """

    title: str
    method: str
    rounds: int
    aim: float | None
    arguments: Callable[[Library, Random, int], Arguments]


class Times(NamedTuple):
    """Microseconds of one call."""

    median: float
    p90: float


def measured(
    verb: Verb, peers: Sequence[object], rounds: Arguments, clock: Callable[[], int]
) -> list[Times | None]:
    """Return the times of each peer, None for one that lacks the verb.

    Args:
        verb: What to call.
        peers: On whom.
        rounds: The arguments of each round.
        clock: Nanoseconds.
    """
    taken: list[list[int]] = [[] for _ in peers]
    able = [pair for pair in zip(peers, taken, strict=True) if hasattr(pair[0], verb.method)]
    for number, arguments in enumerate(rounds):
        calls = [(getattr(peer, verb.method)(*arguments), times) for peer, times in able]
        # Whoever comes first in a round finds colder caches.
        first = number % len(calls)
        for call, times in calls[first:] + calls[:first]:
            start = clock()
            call()
            times.append(clock() - start)
    return [_times(times) if times else None for times in taken]


def refuse_difference(raw: Path, ours: Path) -> None:
    """Raise unless both files hold the same memories and the same history."""
    with closing(sqlite3.connect(raw)) as one, closing(sqlite3.connect(ours)) as other:
        for query in _SAME:
            if different := Counter(one.execute(query)) - Counter(other.execute(query)):
                msg = f"raw and ours did not do the same work: {next(iter(different))}"
                raise RuntimeError(msg)


def _times(nanoseconds: list[int]) -> Times:
    in_order = sorted(nanoseconds)
    p90 = in_order[int(len(in_order) * SLOW_PLACE)]
    return Times(statistics.median(in_order) / 1_000, p90 / 1_000)


def _documents(library: Library, random: Random, rounds: int) -> list[Document]:
    documents = [each for shelf in library.shelves for each in shelf.documents]
    return random.sample(documents, min(rounds, len(documents)))


def _one(library: Library, random: Random, rounds: int) -> Arguments:
    return ((document,) for document in _documents(library, random, rounds))


def _one_of_agent(library: Library, random: Random, rounds: int) -> Arguments:
    for _ in range(rounds):
        yield (random.choice(random.choice(library.agents).documents),)


def _one_and_text(library: Library, random: Random, rounds: int) -> Arguments:
    for number, document in enumerate(_documents(library, random, rounds)):
        yield document, text(1_000 + number)


def _new_and_text(library: Library, random: Random, rounds: int) -> Arguments:
    for number in range(rounds):
        shelf = random.choice(library.shelves)
        name = f"a new plan {number:04}"
        new = Document(shelf, random.randbytes(16), "plan", name, text(1_000 + number))
        yield new, new.text


def _two(library: Library, random: Random, rounds: int) -> Arguments:
    for _ in range(rounds):
        yield tuple(random.sample(random.choice(library.shelves).documents, 2))


def _shelf(library: Library, random: Random, rounds: int) -> Arguments:
    return ((random.choice(library.shelves),) for _ in range(rounds))


def _long(size: int, library: Library, _: Random, rounds: int) -> Arguments:
    return ((library.long[size],) for _ in range(rounds))


def _shuffled(size: int, library: Library, random: Random, rounds: int) -> Arguments:
    for _ in range(rounds):
        yield (random.sample(library.long[size].documents, size),)


# Reading comes first, on shelves as they were loaded; deleting last.
VERBS: Final = (
    Verb("get", "get", 2_000, 0.35, _one),
    Verb("get, agent's shelf", "get", 1_000, None, _one_of_agent),
    Verb("get_by_id", "get_by_id", 2_000, 0.35, _one),
    Verb("list 50", "list", 1_000, 0.5, _shelf),
    Verb("list 50 of 1,000", "list", 200, None, partial(_long, 1_000)),
    Verb("history 50", "history", 500, None, _shelf),
    Verb("replace", "replace", 500, 0.35, _one),
    Verb("save over", "save_over", 500, 0.35, _one_and_text),
    Verb("update", "update", 500, None, _one),
    Verb("move", "move", 300, None, _two),
    Verb("reorder 100", "reorder", 100, 0.8, partial(_shuffled, 100)),
    Verb("reorder 1,000", "reorder", 40, 0.8, partial(_shuffled, 1_000)),
    Verb("save new", "save_new", 500, 0.35, _new_and_text),
    Verb("delete", "delete", 300, None, _one),
)
