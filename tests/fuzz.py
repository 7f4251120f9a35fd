"""Throw random input at what reads input from elsewhere, for a while.

Usage: fuzz.py [--seconds N] [TARGET ...]    (600 seconds for each of all targets when left out)

A target fails by an exception that is none of ours, by a broken promise, or by taking more than a
second of CPU for one input, thrice. Hypothesis makes the inputs and shows the smallest that fails.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import html5lib
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from memories_sdk import Edit, MemoriesError, MemoryStore, MemoryTools
from memories_sdk.edits import apply_edits
from memories_sdk.importers import markdown_folder
from memories_sdk.markdown import MAX_HTML, render_safe

LONGEST = 1.0  # seconds of CPU for one input
TRIES = 3  # a busy machine makes any input slow once
ROUND = 200  # inputs between two looks at the clock

MARKS = [
    *("# ", "> ", "- ", "1. ", "- [ ] ", "```", "~~~", "***", "**", "_", "~~", "`", "|", "|-|-|\n"),
    *(
        "[",
        "]",
        "(",
        ")",
        "![",
        "[^",
        "]:",
        "](",
        "<",
        ">",
        "&",
        ";",
        "\\",
        "\n",
        "\n\n",
        "\t",
        "    ",
    ),
    *("https://a.b/", "javascript:", "data:text/html,", "attachment:x", "a@b.c", "www.a.b", "//a"),
    *(
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<svg onload=x>",
        "&#1;",
        "&#x202e;",
        "&lt;",
        "[!NOTE]",
    ),
    *(
        "\u202e",
        "\u200b",
        "\U000e0041",
        "\x00",
        "\x85",
        "\ufffe",
        "\ud800",
        "é",
        "e\u0301",
        "字",
        "👩‍👩‍👧",
    ),
]
PIECES = st.sampled_from(MARKS) | st.text(max_size=6)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
LONG = st.builds(lambda text, times: text * times, TEXTS, st.integers(1, 2_000))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
JSON = st.recursive(
    SCALARS, lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXTS, each, max_size=3)
)
WORDS = st.sampled_from(["list", "get", "save", "replace", "delete", "n", "plan", "fact", "x"])
NAMES = st.sampled_from(
    [
        *("action", "name", "type", "content", "summary", "order", "find", "new_text", "edits"),
        *("expected_version", "key", "value", "tags", "query", "limit"),
    ]
)


def a_body_shown(text: str) -> None:
    """A body becomes bounded HTML in which a parser finds no error."""
    markup = str(render_safe(text))
    assert len(markup.encode()) <= MAX_HTML
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    if len(markup) < 20_000:
        parser.parseFragment(markup)
    assert not parser.errors


def a_passage_replaced(case: tuple[str, list[tuple[str, str]]]) -> None:
    """Edits are made as Python's own replace makes them, or none is."""
    content, pairs = case
    with suppress(MemoriesError):
        result = apply_edits(content, [Edit(*pair) for pair in pairs])
        for find, new_text in pairs:
            content = content.replace(find, new_text, 1)
        assert result == content


def a_folder_taken_in(files: list[tuple[str, str]]) -> None:
    """Whatever lies in a folder is taken in or reported, and comes out as it went in."""
    with tempfile.TemporaryDirectory() as place, MemoryStore(":memory:") as store:
        folder = Path(place, "in")
        folder.mkdir()
        for number, (name, text) in enumerate(files):
            stem = "".join(each for each in name if each.isalnum())[:20]
            data = text.encode("utf-8", "surrogatepass")
            Path(folder, f"{number}{stem}.md").write_bytes(data)
        shelf = store.scope(acting_as=store.principals.user("alice"))
        with suppress(MemoriesError):
            markdown_folder.bring_in(shelf, folder)
        bodies = sorted((it.name, it.type, it.content) for it in shelf.recent().memories)
        out = Path(place, "out")
        markdown_folder.export(shelf, out)
        other = store.scope(acting_as=store.principals.user("bob"))
        markdown_folder.bring_in(other, out)
        assert sorted((it.name, it.type, it.content) for it in other.recent().memories) == bodies


class Tools:
    """A model that sends anything to any tool."""

    def __init__(self) -> None:
        self.store = MemoryStore(":memory:")
        self.tools = MemoryTools(self.store, acting_as=self.store.principals.user("alice"))

    def __call__(self, case: tuple[str, object, str, bool]) -> None:
        """Every call gets a foreseen answer."""
        tool, arguments, prompt, approved = case
        result = self.tools.call(tool, arguments, prompt=prompt, approved=approved)
        assert result.text
        assert result.code != "internal"


class Queries:
    """Somebody who looks for anything on a shelf that holds many kinds of text."""

    def __init__(self) -> None:
        self.store = MemoryStore(":memory:")
        self.shelf = self.store.scope(acting_as=self.store.principals.user("alice"))
        for number, mark in enumerate(MARKS):
            with suppress(MemoriesError):
                self.shelf.save(f"n{number}", "plan", f"{mark} word {mark}")

    def __call__(self, query: str) -> None:
        """Every query gets a list and a bounded prompt."""
        assert len(self.shelf.search(query)) <= len(MARKS)
        assert len(self.shelf.relevant_for_prompt(query).as_context()) <= 1_200
        self.shelf.recent(containing=query)


def targets() -> dict[str, tuple[Callable[..., None], st.SearchStrategy[object]]]:
    """Return what is tried, with what."""
    calls = st.dictionaries(NAMES, WORDS | JSON, max_size=6) | JSON | TEXTS
    tools = ["memory", "global_memory", "remember_memory", "forget_memory", "list_memory", "other"]
    pairs = st.lists(st.tuples(TEXTS, TEXTS), max_size=3)
    return {
        "render": (a_body_shown, TEXTS | LONG),
        "replace": (a_passage_replaced, st.tuples(TEXTS | LONG, pairs)),
        "import": (a_folder_taken_in, st.lists(st.tuples(TEXTS, FILES), max_size=4)),
        "tools": (Tools(), st.tuples(st.sampled_from(tools), calls, TEXTS, st.booleans())),
        "query": (Queries(), TEXTS | LONG),
    }


HEADS = st.sampled_from(
    ["---\n", "type: plan\n", "name: x\n", "tags: [a]\n", "a: &b [*b]\n", "!!x y\n"]
)
FILES = st.lists(HEADS | PIECES, max_size=12).map("".join)


def timed(target: Callable[..., None]) -> Callable[[object], None]:
    """Return the target with its limit of time."""

    def run(value: object) -> None:
        for _ in range(TRIES):
            start = time.thread_time()
            target(value)
            took = time.thread_time() - start
            if took <= LONGEST:
                return
        raise AssertionError(f"{took:.1f} s")

    return run


def fuzz(name: str, seconds: float) -> int:
    """Try one target for a while and return how many inputs it took."""
    target, inputs = targets()[name]
    run = timed(target)
    count = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:

        @seed(time.time_ns())
        @settings(
            max_examples=ROUND,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.target, Phase.shrink],
        )
        @given(inputs)
        def round_of(value: object) -> None:
            run(value)

        round_of()
        count += ROUND
    return count


def main(arguments: list[str]) -> None:
    """Try the targets in turn."""
    parser = argparse.ArgumentParser(prog="fuzz.py")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("target", nargs="*")
    chosen = parser.parse_args(arguments)
    for name in chosen.target or targets():
        sys.stdout.write(f"{name}: {fuzz(name, chosen.seconds):,} inputs, nothing found\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
