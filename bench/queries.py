"""Ask a shelf random queries and compare what must be equal: `python -m bench.queries`.

Half of the queries are any Unicode text. The other half are words between signs that search engines
give a meaning to: they must find exactly what the same words find without the signs.
"""

from __future__ import annotations

import argparse
import re
import time
from random import Random
from typing import Final

from memories_sdk import MemoryStore, Scope

QUERIES: Final = 100_000
_WORDS: Final = ("pump", "gauge", "cellar", "valve", "reads", "seven", "not", "near", "or", "and")
_SIGNS: Final = (
    *('"', "'", "*", "^", "(", ")", ":", "-", "+", "{", "}", "[", "]", "\\", "/", "|", "&", "!"),
    *("~", "@", "#", "$", "%", "<", ">", "=", ";", ",", ".", "?", " ", " ", " ", "\n", "\t"),
)
_RANGES: Final = (
    (0x20, 0x7E),
    (0xA0, 0x24F),
    (0x300, 0x36F),
    (0x370, 0x52F),
    (0x590, 0x6FF),
    (0x900, 0x97F),
    (0xE00, 0xE7F),
    (0x2000, 0x206F),
    (0x3040, 0x30FF),
    (0x4E00, 0x4EFF),
    (0xAC00, 0xACFF),
    (0x1F300, 0x1F64F),
)


def main() -> None:
    """Print how many queries were asked, how many found something, and how long one took."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--queries", type=int, default=QUERIES)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    start = time.process_time()
    with MemoryStore(":memory:") as store:
        found = fuzz(filled(store), given.queries, given.seed)
    each = (time.process_time() - start) / given.queries * 1e3
    print(f"{given.queries:,} queries, {found:,} found something, no error; {each:.2f} ms each")


def filled(store: MemoryStore, fillers: int = 0) -> Scope:
    """Return a shelf in several scripts; with many fillers it is one that has an index."""
    shelf = store.scope(acting_as=store.principals.user("fuzz"))
    for name, body in (
        ("pump", "The pump stands in the cellar. It is not near the valve."),
        ("gauge", "The gauge reads seven, or AND if it is broken."),
        ("signs", 'Signs: "*" NEAR( {a} : ^b - + C++ & a*b \\ | 100% _ [x](y)'),
        ("משאבה", "המשאבה עומדת במרתף ליד השסתום."),
        ("泵", "水泵在地下室里。ポンプは地下にある。펌프는 지하실에 있다."),
        ("पंप", "पंप तहखाने में है। ปั๊มอยู่ในห้องใต้ดิน المضخة في القبو"),
    ):
        shelf.save(name, "context", body)
    for number in range(fillers):
        shelf.save(f"filler {number}", "context", f"Entry {number} about paper and reads.")
    return shelf


def fuzz(shelf: Scope, queries: int, seed: int) -> int:
    """Ask so many queries and return how many found something.

    Raises:
        AssertionError: A sign had a meaning, or a figure is out of its bounds.
    """
    random = Random(seed)  # noqa: S311 -- not for secrets
    found = 0
    for number in range(queries):
        query = _anything(random) if number % 2 else _signs_and_words(random)
        hits = shelf.search(query, limit=5)
        fair = len(hits) <= min(hits.total, 5) and all(0 < hit.score <= 1 for hit in hits)
        if not number % 2:
            plain = shelf.search(re.sub("[^a-z]+", " ", query), limit=5)
            fair = fair and hits == plain
        if not fair:
            raise AssertionError(query)
        found += bool(hits)
    return found


def _anything(random: Random) -> str:
    def character() -> str:
        return chr(random.randint(*random.choice(_RANGES)))

    return "".join(character() for _ in range(random.randint(0, 30)))


def _signs_and_words(random: Random) -> str:
    parts = []
    for _ in range(random.randint(1, 8)):
        parts.append(random.choice(_WORDS))
        parts += random.choices(_SIGNS, k=random.randint(1, 3))
    return "".join(parts)


if __name__ == "__main__":
    main()
