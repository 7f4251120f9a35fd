"""Documents that agents and people really keep: byte for byte, in order, across restarts."""

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from memories_sdk import DOCUMENTS, MemoryStore

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"

REOPEN = """
import hashlib, json, sys
from memories_sdk import MemoryStore
store = MemoryStore(sys.argv[1])
shelf = store.scope(acting_as=store.principals.user("alice"))
heads = shelf.list(limit=100)
print(json.dumps([[h.name, hashlib.sha256(shelf.get_by_id(h.id).content.encode()).hexdigest()]
                  for h in heads]))
"""


@pytest.fixture
def real_documents(shared):
    """Markdown files of two public projects, English and Japanese."""
    paths = sorted((shared / "data" / "memory_bank").rglob("*.md"))
    assert len(paths) == 19
    return paths


def digests(database):
    """Read names and body digests of the shelf in another process, as after a restart."""
    done = subprocess.run(
        [sys.executable, "-c", REOPEN, str(database)], capture_output=True, check=True, text=True
    )
    return json.loads(done.stdout)


@pytest.mark.external
def test_real_documents_load_list_open_reorder_and_survive_a_restart(real_documents, tmp_path):
    """A body comes back to the byte, and a place in the list stays, in a later process too."""
    with MemoryStore(tmp_path / "real.db") as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        for path in real_documents:
            shelf.save(
                f"{path.parent.name}/{path.stem}", "documentation", path.read_bytes().decode()
            )
        assert [head.size for head in shelf.list()] == [p.stat().st_size for p in real_documents]
        for path in real_documents:
            memory = shelf.get(f"{path.parent.name}/{path.stem}", "documentation")
            assert memory.content.encode() == path.read_bytes()
        shelf.reorder([head.id for head in reversed(shelf.list())])
        names = [head.name for head in shelf.list()]

    assert names == [f"{path.parent.name}/{path.stem}" for path in reversed(real_documents)]
    assert [name for name, _ in digests(tmp_path / "real.db")] == names


@pytest.mark.external
def test_the_curation_notebook_takes_a_folder_of_real_documents(
    real_documents, shared, tmp_path, monkeypatch
):
    """The folder that a user names is loaded once; a run after a restart changes nothing."""
    database = tmp_path / "curation.db"
    monkeypatch.setenv("MEMORIES_DOCUMENTS", str((shared / "data" / "memory_bank").resolve()))
    monkeypatch.setenv("MEMORIES_URL", str(database))
    notebook = nbformat.read(NOTEBOOKS / "04_curate_by_hand.ipynb", as_version=4)
    place = {"metadata": {"path": str(NOTEBOOKS)}}

    NotebookClient(notebook, kernel_name="python3", resources=place).execute()
    first = digests(database)
    NotebookClient(notebook, kernel_name="python3", resources=place).execute()

    assert len(first) == len(real_documents)
    assert digests(database) == first


def test_the_documents_that_ship_have_types_and_stay_as_they_are(make_store):
    """The documents beside the notebooks name their types by folder and come back to the byte."""
    store = make_store()
    shelf = store.scope(acting_as=store.principals.user("alice"))
    paths = sorted((NOTEBOOKS / "documents").rglob("*.md"))
    for path in paths:
        shelf.save(path.stem, path.parent.name, path.read_bytes().decode())
        assert shelf.get(path.stem, path.parent.name).content.encode() == path.read_bytes()
    assert {path.parent.name for path in paths} == set(DOCUMENTS.types)
