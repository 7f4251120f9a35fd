"""The package as it is built, locked and imported."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
LARGEST = 1_000_000  # bytes
OPTIONAL = {"IPython", "alembic", "anywidget", "fastapi", "ipywidgets", "langgraph"}

each_lock = pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    """The wheel that hatchling builds from the working tree."""
    folder = tmp_path_factory.mktemp("dist")
    python("-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
    (built,) = folder.glob("*.whl")
    with ZipFile(built) as opened:
        yield opened


def python(*arguments: str, **environment: str) -> str:
    """Run a fresh interpreter in the project's folder and return what it prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def locked(path: Path) -> dict[str, list[str]]:
    """Return the versions a lock holds for each name; several where they hang on the platform."""
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", path.read_text("utf-8"), re.MULTILINE):
        found.setdefault(canonicalize_name(name), []).append(version)
    return found


def test_wheel_holds_the_package_and_nothing_else(wheel: ZipFile) -> None:
    """Tests, browser sources and tools stay out of what users install."""
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"memories_sdk", f"memories_sdk-{PROJECT['version']}.dist-info"}
    assert not [name for name in wheel.namelist() if name.endswith((".ts", ".map", "package.json"))]


def test_wheel_holds_every_committed_file_of_the_package(wheel: ZipFile) -> None:
    """What works in a checkout works installed: py.typed and the bundles are in."""
    package = ROOT / "src" / "memories_sdk"
    files = {
        path.relative_to(ROOT / "src").as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files - set(wheel.namelist()) == set()
    assert "memories_sdk/py.typed" in files


def test_wheel_holds_no_large_file(wheel: ZipFile) -> None:
    """A file over 1 MB is a mistake: a picture, a map, a bundle without its limit."""
    assert [info.filename for info in wheel.infolist() if info.file_size > LARGEST] == []


@each_lock
def test_lock_records_no_address(lock: Path) -> None:
    """A lock names versions and hashes; where they come from is each machine's own business."""
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash=)", text, re.MULTILINE)


@each_lock
def test_lock_hashes_every_version(lock: Path) -> None:
    """Each version has the hashes of its wheel and its source, so every platform can check it."""
    entries = re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8"))
    few = [entry.split()[0] for entry in entries if "==" in entry and entry.count("--hash=") < 2]
    assert few == []


def test_locks_agree() -> None:
    """A version is the same in every lock, so that installing one over another changes nothing."""
    widest = locked(ROOT / "requirements" / "dev.txt")
    for path in LOCKS:
        differing = {
            name: versions
            for name, versions in locked(path).items()
            if name in widest and versions != widest[name]
        }
        assert differing == {}, path.name


@pytest.mark.parametrize(
    ("name", "extras"),
    [("runtime", ()), ("bench", ()), ("lab", ("widgets", "lab")), ("dev", ("widgets", "lab"))],
)
def test_lock_satisfies_what_the_project_declares(name: str, extras: tuple[str, ...]) -> None:
    """A changed bound without a new lock fails here, not at a user."""
    declared = list(PROJECT["dependencies"])
    for extra in extras:
        declared += PROJECT["optional-dependencies"][extra]
    versions = locked(ROOT / "requirements" / f"{name}.txt")
    for requirement in map(Requirement, declared):
        if requirement.name != PROJECT["name"]:
            found = versions.get(canonicalize_name(requirement.name), [])
            assert any(version in requirement.specifier for version in found), requirement


def test_every_import_is_declared() -> None:
    """A package that only came along with another one is gone when that one drops it."""
    declared = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    names = {canonicalize_name(Requirement(text).name) for texts in declared for text in texts}
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    foreign = imported - sys.stdlib_module_names - {"memories_sdk"}
    assert "sqlmodel" in foreign
    packages = packages_distributions()
    origins = {name: {canonicalize_name(package) for package in packages[name]} for name in foreign}
    assert {name for name, origin in origins.items() if not names & origin} == set()


def test_import_loads_no_optional_package() -> None:
    """`import memories_sdk` costs nobody a widget, a server or a framework."""
    loaded = python("-c", "import sys, memories_sdk; print(*sys.modules)").split()
    assert "memories_sdk" in loaded
    assert OPTIONAL & {name.split(".")[0] for name in loaded} == set()


def test_version_is_said_once_and_the_same() -> None:
    """The version a program reads is the one it installed."""
    said = python("-c", "import memories_sdk; print(memories_sdk.__version__)").strip()
    assert said == PROJECT["version"]


def test_a_skip_fails_where_all_are_required(tmp_path: Path) -> None:
    """MEMORIES_REQUIRE_ALL makes a run fail and name the test that did not run."""
    for name in ("conftest.py", "held.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path)
    (tmp_path / "test_it.py").write_text("import pytest\ndef test_it(): pytest.skip('no engine')\n")
    run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly"]
    run += ["-o", "pythonpath=.", "."]
    codes = {}
    for required in ("", "1"):
        done = subprocess.run(
            run,
            cwd=tmp_path,
            env=os.environ | {"MEMORIES_REQUIRE_ALL": required},
            capture_output=True,
            text=True,
            check=False,
        )
        codes[required] = done.returncode
    assert codes == {"": pytest.ExitCode.OK, "1": pytest.ExitCode.TESTS_FAILED}
    assert "FAILED test_it.py::test_it" in done.stdout
    assert "no engine" in done.stdout
