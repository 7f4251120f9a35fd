"""Drive an implementation through cases.json.

    python run_cases.py [cases.json] --adapter module:factory [--mode better]
        [--only AREA,…] [--skip AREA,…] [--without OP,…] [-v]

--mode better (default) judge 'improve' cases by 'preferred' where a machine-readable form exists
--mode seed   judge them by the seed's own behaviour
--mode either accept one or the other

'superseded' cases are counted and skipped.

The adapter factory is called as factory(system) -> fresh, empty object with op_<name>(**args)
methods (see the `ops` table in cases.json) and, optionally, bindings() -> {"alice.principal": 11,
"scout.id": 101, ...} and close(). Exit status 1 if any case fails.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).resolve().parent

Case = dict[str, Any]
Factory = Callable[[str], Any]
Mode = Literal["better", "seed", "either"]

TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "$any": lambda _want, _got: True,
    "$regex": lambda want, got: (
        isinstance(got, str) and re.search(want, got, re.DOTALL) is not None
    ),
    "$contains": lambda want, got: isinstance(got, str | list) and want in got,
    "$lacks": lambda want, got: not isinstance(got, str | list) or want not in got,
    "$len": lambda want, got: len(got) == want,
    "$maxlen": lambda want, got: len(got) <= want,
    "$not": lambda want, got: got != want,
    "$gt": lambda want, got: got > want,
    "$in": lambda want, got: got in want,
    "$set": lambda want, got: sorted(map(str, got)) == sorted(map(str, want)),
}
ABSENT = {"$absent": True}
BOUND = r"\$\{([\w.]+)\}"


def subst(value: Any, env: Case) -> Any:
    """Return the value with bound values put in and built texts built."""
    match value:
        case str():
            whole = re.fullmatch(BOUND, value)
            return env[whole[1]] if whole else re.sub(BOUND, lambda it: str(env[it[1]]), value)
        case list():
            return [subst(each, env) for each in value]
        case {"$repeat": [unit, times], **rest} if not rest:
            return subst(unit, env) * times
        case {"$concat": parts, **rest} if not rest:
            return "".join(subst(part, env) for part in parts)
        case dict():
            return {key: subst(each, env) for key, each in value.items()}
    return value


def match(want: Any, got: Any, path: str = "$") -> list[str]:
    """Return what differs; objects match on the keys wanted, lists element by element."""
    if isinstance(want, dict) and len(want) == 1 and next(iter(want)).startswith("$"):
        ((name, operand),) = want.items()
        return [] if TESTS[name](operand, got) else [f"{path}: {got!r} !~ {want!r}"]
    if isinstance(want, dict):
        return _match_object(want, got, path)
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return [f"{path}: {got!r} != {want!r}"]
        pairs = enumerate(zip(want, got, strict=True))
        return [error for i, pair in pairs for error in match(*pair, f"{path}[{i}]")]
    same = want == got and (type(want) is type(got) or not isinstance(want, bool))
    return [] if same else [f"{path}: {got!r} != {want!r}"]


def _match_object(want: Case, got: Any, path: str) -> list[str]:
    if not isinstance(got, dict):
        return [f"{path}: expected object, got {got!r}"]
    errors: list[str] = []
    for key, each in want.items():
        if each == ABSENT:
            errors += [f"{path}.{key}: should be absent"] if key in got else []
        elif key not in got:
            errors.append(f"{path}.{key}: missing")
        else:
            errors += match(each, got[key], f"{path}.{key}")
    return errors


def dig(value: Any, path: str) -> Any:
    """Return the part of a value that a dotted path names."""
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


class Runner:
    """One implementation on its way through one case."""

    def __init__(self, implementation: Any) -> None:
        self.implementation = implementation
        self.env: Case = {}

    def do(self, step: Case) -> Any:
        """Carry out a step and bind what it asks to bind."""
        self._bind()
        arguments = {key: each for key, each in step.items() if key not in {"op", "bind"}}
        got = getattr(self.implementation, "op_" + step["op"])(**subst(arguments, self.env))
        for key, path in step.get("bind", {}).items():
            self.env[key] = dig(got, path)
        return got

    def _bind(self) -> None:
        if hasattr(self.implementation, "bindings"):
            self.env.update(self.implementation.bindings())
        for table in ("users", "groups"):
            for name, row in getattr(self.implementation, table, {}).items():
                if isinstance(row, dict) and "principal" in row:
                    self.env[f"{name}.principal"] = row["principal"]
        for name, row in getattr(self.implementation, "agents", {}).items():
            self.env[f"{name}.id"] = row["id"]


def run(case: Case, factory: Factory, *, preferred: bool = False) -> list[str]:
    """Run a case on a fresh implementation; return what differs from what it expects."""
    better = case.get("preferred", {}) if preferred else {}
    implementation = factory(case["system"])
    try:
        runner = Runner(implementation)
        for step in case["given"]:
            runner.do(step)
        errors: list[str] = []
        if "when" in case:
            got = runner.do(case["when"])
            want = better.get("expect", case["expect"])
            errors = match(subst(want, runner.env), got)
        for i, then in enumerate(case.get("then", [])):
            got = runner.do(then["do"])
            want = better["then"][i] if "then" in better else then["expect"]
            errors += [f"then[{i}] {error}" for error in match(subst(want, runner.env), got)]
        return errors
    finally:
        getattr(implementation, "close", lambda: None)()


def judge(case: Case, factory: Factory, mode: Mode = "better") -> list[str]:
    """Return what is wrong with the implementation in this case; nothing when it passes."""

    def attempt(*, preferred: bool) -> list[str]:
        try:
            return run(case, factory, preferred=preferred)
        except Exception as error:  # noqa: BLE001 -- a crash of the adapter is a failure of the case
            return [f"{type(error).__name__}: {error}"]

    if mode == "better" and "preferred" in case:
        return attempt(preferred=True)
    errors = attempt(preferred=False)
    if errors and mode == "either" and "preferred" in case:
        return attempt(preferred=True)
    return errors


def used(case: Case) -> set[str]:
    """Return the operations a case needs."""
    steps = [*case["given"], *(then["do"] for then in case.get("then", []))]
    return {step["op"] for step in [*steps, *([case["when"]] if "when" in case else [])]}


def main() -> int:
    """Run the cases that the command line names and print those that fail."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="?", default=HERE / "cases.json", type=Path)
    parser.add_argument("--adapter", required=True, help="module:factory")
    parser.add_argument("--mode", choices=("better", "seed", "either"), default="better")
    parser.add_argument("--only", default="", help="area prefixes, comma separated")
    parser.add_argument("--skip", default="", help="area prefixes to leave out")
    parser.add_argument(
        "--without", default="", help="leave out cases that use one of these ops, e.g. rest,wp_rest"
    )
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    sys.path[:0] = [str(HERE), "."]
    module, _, name = options.adapter.partition(":")
    factory = getattr(importlib.import_module(module), name)
    counts, failed = _run_all(options, factory)
    for each, errors in failed.items():
        print(f"FAIL {each}", *errors, sep="\n      ")  # noqa: T201 -- the output is the point
    print(dict(counts))  # noqa: T201 -- the output is the point
    return 1 if failed else 0


def _run_all(
    options: argparse.Namespace, factory: Factory
) -> tuple[Counter[str], dict[str, list[str]]]:
    only, skip = (tuple(filter(None, each.split(","))) for each in (options.only, options.skip))
    without = set(options.without.split(","))
    counts: Counter[str] = Counter()
    failed: dict[str, list[str]] = {}
    for case in json.loads(options.cases.read_text(encoding="utf-8"))["cases"]:
        if (only and not case["area"].startswith(only)) or (skip and case["area"].startswith(skip)):
            continue
        if used(case) & without:
            counts["left out"] += 1
        elif case["stance"] == "superseded":
            counts["superseded"] += 1
        else:
            if errors := judge(case, factory, options.mode):
                failed[case["id"]] = errors
            counts["fail" if errors else "pass"] += 1
            if options.v:
                print(("FAIL " if errors else "ok   ") + case["id"])  # noqa: T201 -- as above
    return counts, failed


if __name__ == "__main__":
    sys.exit(main())
