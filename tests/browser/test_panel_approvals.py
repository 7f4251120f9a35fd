"""What agents ask for, in a real page: it comes by itself, and is granted, refused or stale."""

from __future__ import annotations

import pytest

SETUP = """
from memories_sdk import MemoryStore, MemoryTools, widgets
store = MemoryStore(":memory:")
alice = store.principals.user("alice")
writer = store.agents.create("writer", owner=alice)
shelf = store.scope(acting_as=alice)
for each in ("one", "two", "three"):
    shelf.save(each, "plan", f"# The {each}")
tools = MemoryTools(store, acting_as=alice, agent=writer)
panel = widgets.MemoryPanel(store, acting_as=alice)
panel
"""
ASK = """
for each in ("one", "two", "three"):
    tools.call("global_memory", {"action": "delete", "name": each, "type": "plan"})
"""
CHANGE = 'shelf.save("three", "plan", "changed")'
LEFT = "print(*(head.name for head in shelf.list()))"


@pytest.mark.both
def test_requests_come_by_themselves_and_are_decided(book) -> None:
    """The agent asks; within two seconds the panel counts, and each answer does what it says."""
    notebook = book(SETUP, ASK, CHANGE, LEFT)
    notebook.run(0)
    page = notebook.page
    page.get_by_role("option", name="one").wait_for()
    notebook.run(1)
    page.get_by_role("button", name="Approvals, 3 waiting").click(timeout=2_000)
    requests = page.get_by_role("list", name="Requests").get_by_role("listitem")
    assert "writer (agent)" in requests.nth(0).inner_text()
    assert "The one" in requests.nth(0).get_by_role("region").inner_text()
    requests.nth(0).get_by_role("button", name="Grant").click()
    requests.nth(0).get_by_role("button", name="Grant").wait_for(state="detached")
    requests.nth(1).get_by_role("button", name="Refuse").click()
    requests.nth(1).get_by_text("Refused.").wait_for()
    notebook.run(2)
    requests.nth(2).get_by_role("button", name="Grant").click()
    requests.nth(2).get_by_text("Not carried out: the memory changed").wait_for()
    page.get_by_role("button", name="Approvals, ").wait_for(state="hidden")
    assert notebook.says(3) == "two three"
