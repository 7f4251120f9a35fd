"""Refuse files that must not be committed as they are, in a second and without Node.

Large files; notebooks that keep widget state, which holds whole bundles that run when the notebook
is opened; bundles that were built from other sources than those beside them.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LARGEST = 1_000_000  # bytes
WIDGETS = Path("widgets")
STATIC = Path("src/memories_sdk/widgets/static")


def main() -> None:
    """Name every fault and end with 1 if there is one."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True, text=True)
    # A file may be deleted from the tree and not yet from the index.
    files = [path for name in listed.stdout.split("\0") if name and (path := Path(name)).is_file()]
    faults = [fault for path in files for fault in faults_of(path)] + list(stale_bundles())
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


def faults_of(path: Path) -> Iterator[str]:
    """Yield one line for each rule that PATH breaks."""
    size = path.stat().st_size
    if size > LARGEST:
        yield f"{path}: {size:,} bytes, more than {LARGEST:,}"
    if path.suffix == ".ipynb" and "widgets" in json.loads(path.read_bytes())["metadata"]:
        yield f"{path}: keeps widget state; turn off Settings > Save Widget State Automatically"


def stale_bundles() -> Iterator[str]:
    """Yield one line for each digest in the manifest that is not the one of today's files.

    The manifest is written by widgets/build.mjs, which says what goes into the digest of sources.
    """
    manifest = json.loads((STATIC / "manifest.json").read_bytes())
    sources = [f"src/{path.name}" for path in (WIDGETS / "src").iterdir()]
    names = sorted(["build.mjs", "package-lock.json", *sources])
    lines = "".join(f"{name}\0{sha256((WIDGETS / name).read_bytes())}\n" for name in names)
    if manifest["sources"] != sha256(lines.encode()):
        yield f"{STATIC}: built from other sources than widgets/; run: make bundles"
    for name, digest in manifest["bundles"].items():
        if digest != sha256((STATIC / name).read_bytes()):
            yield f"{STATIC / name}: not what the manifest says; run: make bundles"


def sha256(content: bytes) -> str:
    """Return the digest as hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    main()
