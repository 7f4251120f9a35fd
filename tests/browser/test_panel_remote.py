"""The panel on a store behind a server: nothing of it knows how far away the shelf is."""

from __future__ import annotations

import pytest

CELL = """
from memories_sdk import MemoryStore, widgets
store = MemoryStore("{address}", token="{token}")
alice = store.principals.user("alice")
club = store.principals.group("club")
widgets.MemoryPanel(store, acting_as=alice, principal=club)
"""


@pytest.mark.engines("sqlite-file")
def test_a_shelf_behind_a_server_is_curated_like_one_beside(
    book, store, alice, bob, address
) -> None:
    """It lists, edits and saves, meets another's change, and says when the right is gone."""
    club = store.principals.group("club", owner=bob, members=[alice])
    near = store.scope(acting_as=bob, principal=club)
    for name in ("tone", "style"):
        near.save(name, "context", "first")
    token = store.tokens.issue(alice, access="write").secret
    notebook = book(CELL.format(address=address, token=token))
    notebook.run(0)
    page = notebook.page
    page.get_by_role("option", name="style").wait_for()
    page.get_by_role("option", name="tone").click()
    page.locator("[data-editor=codemirror]").wait_for()
    form = page.get_by_role("form", name="Memory editor")
    body = form.get_by_role("textbox", name="Body")

    def write(text: str) -> None:
        body.click()
        page.keyboard.press("Control+End")
        page.keyboard.type(text)

    write(" and second")
    page.keyboard.press("Control+s")
    form.get_by_text("Saved now").wait_for()
    assert near.get("tone", "context").content == "first and second"

    write(" and mine")
    near.save("tone", "context", "theirs")
    asked = page.get_by_role("alertdialog")
    asked.get_by_text("bob edited “tone” while you were editing it").wait_for()
    assert near.get("tone", "context").content == "theirs"
    asked.get_by_role("button", name="Keep mine").click()
    form.get_by_text("Saved now").wait_for()
    assert near.get("tone", "context").content == "first and second and mine"

    store.principals.remove_member(club, alice)
    closed = page.locator(".msdk-list").get_by_role("alert")
    closed.get_by_text("This shelf is closed to you").wait_for()
    page.get_by_role("radio", name="alice").click()
    page.get_by_text("No memories yet").wait_for()
