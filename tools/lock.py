"""Write the lock files: every version and every public file's hash, and no address.

Usage: lock.py [--upgrade | --upgrade-package NAME ...]
"""

import subprocess
import sys
from pathlib import Path

# A release younger than this is left for others to try first.
COOL_DOWN = "1 week"
COMPILE = (
    *("uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"),
    # The user's own uv settings must not leave a trace in a shared file.
    *("--no-config", "--exclude-newer", COOL_DOWN),
)
FOLDER = Path("requirements")
DEV = FOLDER / "dev.txt"
LAB = "requirements/lab.in"
# The widest lock comes first; the others take their versions from it.
LOCKS = {
    DEV: ("pyproject.toml", "--all-extras", "requirements/dev.in"),
    FOLDER / "lab.txt": (*("pyproject.toml", "--extra", "lab", "--extra", "cli"), LAB),
    FOLDER / "runtime.txt": ("pyproject.toml",),
    FOLDER / "bench.txt": ("pyproject.toml", "requirements/bench.in"),
}


def main(options: list[str]) -> None:
    """Compile each lock in turn."""
    for lock, sources in LOCKS.items():
        versions = () if lock == DEV else ("--constraints", str(DEV))
        command = [*COMPILE, *options, *versions, *sources, "--output-file", str(lock)]
        subprocess.run(command, check=True)
        text = lock.read_text(encoding="utf-8")
        lock.write_text("# Written by `make lock`.\n" + text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
