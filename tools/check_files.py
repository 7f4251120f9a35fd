"""Refuse files that must not be committed as they are.

Large files, locks that name an address, merges half done, and notebooks that keep widget state: it
holds whole bundles, and they run when somebody opens the notebook.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LARGEST = 1_000_000  # bytes
MARKS = (b"<<<<<<< ", b">>>>>>> ")


def main() -> None:
    """Name every fault and end with 1 if there is one."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True, text=True)
    # A file may be deleted from the tree and not yet from the index.
    files = [path for name in listed.stdout.split("\0") if name and (path := Path(name)).is_file()]
    faults = [fault for path in files for fault in faults_of(path)]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


def faults_of(path: Path) -> Iterator[str]:
    """Yield one line for each rule that PATH breaks."""
    size = path.stat().st_size
    if size > LARGEST:
        yield f"{path}: {size:,} bytes, more than {LARGEST:,}"
    if is_lock(path) and "://" in path.read_text("utf-8"):
        yield f"{path}: names an address; where packages come from is each machine's own business"
    if any(line.startswith(MARKS) for line in path.read_bytes().splitlines()):
        yield f"{path}: holds the marks of a merge that nobody finished"
    if path.suffix == ".ipynb" and "widgets" in json.loads(path.read_bytes())["metadata"]:
        yield f"{path}: keeps widget state; turn off Settings > Save Widget State Automatically"


def is_lock(path: Path) -> bool:
    """Tell whether a file says which versions are installed."""
    return path.name == "package-lock.json" or (
        path.parent.name == "requirements" and path.suffix == ".txt"
    )


if __name__ == "__main__":
    main()
