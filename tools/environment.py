"""Make the environment a make target runs in: a venv, the locked packages, the project itself.

Usage: environment.py VENV LOCK STAMP

Runs on the system's Python before anything is installed, so it needs the standard library only.
It may be stopped at any point and run again: STAMP is written last.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

OLDEST = (3, 11)


def main(venv: Path, lock: Path, stamp: Path) -> None:
    """Bring VENV to what LOCK says and mark it with STAMP."""
    python = venv / "bin" / "python"
    if not python.exists():
        create(venv)
    print(f"Installing {lock} into {venv} ...", flush=True)
    pip = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    run(*pip, "--no-compile", "--require-hashes", "--requirement", str(lock))
    # Without --no-deps and --no-build-isolation pip would fetch what no lock names.
    run(*pip, "--no-deps", "--no-build-isolation", "--editable", ".")
    # Uncompiled, `import sqlmodel` costs about twice its time in every new process. Some packages
    # carry template files that are not Python, so the exit code says nothing.
    compile_all = [str(python), "-m", "compileall", "-qq", "-j", "0", str(venv / "lib")]
    subprocess.run(compile_all, check=False)
    stamp.touch()


def create(venv: Path) -> None:
    """Create VENV with pip in it, or say what the system lacks."""
    this = f"This is Python {sys.version.split()[0]}"
    if sys.version_info < OLDEST:
        sys.exit(f"{this}; memories-sdk needs 3.11 or newer. Try: make PYTHON=python3.12")
    if find_spec("ensurepip") is None:
        sys.exit(f"{this} without its ensurepip module. On Debian: apt-get install python3-venv")
    run(sys.executable, "-m", "venv", str(venv))


def run(*command: str) -> None:
    """Run COMMAND and end with its exit code if it fails."""
    code = subprocess.run(command, check=False).returncode
    if code:
        sys.exit(code)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
