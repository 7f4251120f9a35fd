"""Ask the advisory services about every locked package: Python's and the browser half's.

Ends with 1 when one has an advisory. Where a service cannot be reached, or does not know a package,
it says so in capitals and ends with 0: a closed network must not stop a build, and must be seen.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

PYTHON = (
    *("pip-audit", "--disable-pip", "--require-hashes", "--format", "json"),
    *("--requirement", "requirements/dev.txt"),
)
BROWSER = ("npm", "--prefix", "widgets", "audit", "--json")


class Report(NamedTuple):
    """What a service said: packages it knows, packages it could not judge, and advisories."""

    audited: int
    unknown: int
    advisories: list[str]


def main() -> None:
    """Report on both halves."""
    found = [
        told("Python", PYTHON, of_pip_audit),
        told("browser half", BROWSER, of_npm),
    ]
    sys.exit(1 if any(found) else 0)


def told(half: str, command: tuple[str, ...], read: Callable[[str], Report]) -> bool:
    """Print what a service says of one half; tell whether there are advisories."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        report = read(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
        print(f"NOT AUDITED, {half}: {error or type(error).__name__}")
        return False
    if report.unknown or not report.audited:
        print(f"NOT AUDITED, {half}: {report.unknown or 'all'} packages; nobody answers for them")
    print(f"{half}: {report.audited} packages audited, {len(report.advisories)} advisories")
    print(*report.advisories, sep="\n", end="\n" if report.advisories else "")
    return bool(report.advisories)


def of_pip_audit(text: str) -> Report:
    """Read the answer of pip-audit, which counts what it could not look up as sound."""
    packages = json.loads(text)["dependencies"]
    known = [each for each in packages if "skip_reason" not in each]
    advisories = [f"{each['name']}: {it['id']}" for each in known for it in each.get("vulns", ())]
    return Report(len(known), len(packages) - len(known), advisories)


def of_npm(text: str) -> Report:
    """Read the answer of npm.

    Raises:
        ValueError: Nobody answered it; in its words.
    """
    answer = json.loads(text)
    if "vulnerabilities" not in answer:
        raise ValueError(answer.get("message", "it gave no report"))
    advisories = [f"{name}: {it['severity']}" for name, it in answer["vulnerabilities"].items()]
    return Report(answer["metadata"]["dependencies"]["total"], 0, advisories)


if __name__ == "__main__":
    main()
