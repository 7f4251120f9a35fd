"""Install the wheel without extras in a fresh environment and use it there.

What the package imports but does not declare is missing here, and only here.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Build, install and try the wheel in a folder that goes away again."""
    with tempfile.TemporaryDirectory(prefix="memories-sdk-bare-") as name:
        folder = Path(name)
        run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", name)
        (wheel,) = folder.glob("*.whl")
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / "bin" / "python")
        pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        run(*pip, "--require-hashes", "--requirement", str(ROOT / "requirements" / "runtime.txt"))
        run(*pip, "--no-deps", str(wheel))
        # Isolated, so that the source tree cannot stand in for what the wheel lacks.
        smoke = str(ROOT / "tools" / "bare_smoke.py")
        run(python, "-I", "-W", "error", smoke, str(folder / "memories.db"))


def run(*command: str) -> None:
    """Run COMMAND in the project's folder and end with its exit code if it fails."""
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code:
        sys.exit(code)


if __name__ == "__main__":
    main()
