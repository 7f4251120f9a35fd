"""Pictures in a real page: picked, pasted or dropped, stored, named in the body, shown."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest

SETUP = """
from memories_sdk import MemoryStore, widgets
store = MemoryStore(":memory:")
alice = store.principals.user("alice")
lab = store.principals.group("lab", members=[alice])
shelf = store.scope(acting_as=alice)
shelf.save("tone", "context", "first\\n\\nlast")
panel = widgets.MemoryPanel(store, acting_as=alice)
panel
"""
STORED = "print(*((p.name, p.media_type, p.size) for p in shelf.attachments()))"
BODY = 'print(shelf.get("tone", "context").content)'
FILES = """([target, files]) => {
  const data = new DataTransfer();
  for (const { name, type, content } of files) {
    const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
    data.items.add(new File([bytes], name, { type }));
  }
  return data;
}"""


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    """Return a picture of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        framed = kind + content
        return struct.pack(">I", len(content)) + framed + struct.pack(">I", zlib.crc32(framed))

    rows = (b"\0" + bytes(colour) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def give(page, kind: str, target, *files: tuple[str, str, bytes], **where: float) -> None:
    """Paste or drop files on an element, as the system's clipboard or file manager does."""
    data = page.evaluate_handle(
        FILES,
        [
            None,
            [
                {"name": name, "type": media_type, "content": base64.b64encode(content).decode()}
                for name, media_type, content in files
            ],
        ],
    )
    slot = "clipboardData" if kind == "paste" else "dataTransfer"
    page.evaluate(
        """([target, kind, slot, data, where]) => {
          const make = kind === "paste" ? ClipboardEvent : DragEvent;
          const options = { bubbles: true, cancelable: true, composed: true, ...where };
          target.dispatchEvent(new make(kind, { ...options, [slot]: data }));
        }""",
        [target.element_handle(), kind, slot, data, where],
    )


@pytest.fixture
def editor(book):
    """A panel whose one memory is open."""
    notebook = book(SETUP, STORED, BODY)
    notebook.run(0)
    notebook.page.get_by_role("option", name="tone").click()
    notebook.page.locator("[data-editor=codemirror]").wait_for()
    return notebook


def shown_width(page) -> int:
    """Wait until the preview shows one picture, and return its own width."""
    handle = page.wait_for_function(
        """() => {
          const root = document.querySelector(".msdk-preview").shadowRoot;
          const image = root.querySelector("img");
          return image?.src.startsWith("blob:") && image.complete && image.naturalWidth;
        }"""
    )
    return handle.json_value()


@pytest.mark.both
def test_a_picked_picture_is_stored_named_at_the_cursor_and_shown(editor) -> None:
    """One click, one file: the body names it where the cursor was, the preview shows it."""
    page = editor.page
    picture = png(3, 2, (200, 60, 60))
    page.get_by_role("textbox", name="Body").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("End")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach media").click()
    chooser.value.set_files({"name": "plot.png", "mimeType": "image/png", "buffer": picture})
    page.get_by_text("plot.png attached.").wait_for(state="attached")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved now").wait_for()
    assert editor.says(1) == f"('plot', 'image/png', {len(picture)})"
    first, _, last = editor.says(2).splitlines()
    assert first.startswith("first![plot](attachment:")
    assert last == "last"
    page.get_by_role("button", name="Side by side").click()
    assert shown_width(page) == 3


@pytest.mark.both
def test_pasted_and_dropped_pictures_go_where_they_were_put(editor) -> None:
    """A paste goes to the cursor, a drop to the pointer, and a large picture crosses whole."""
    page = editor.page
    body = page.get_by_role("textbox", name="Body")
    body.click()
    page.keyboard.press("Control+End")
    large = png(700, 700, (60, 60, 200))
    large = large[:-12] + b"x" * 2_000_000 + large[-12:]  # what follows the pixels is not read
    give(page, "paste", body, ("image.png", "image/png", large))
    page.get_by_text("image.png attached.").wait_for(state="attached")
    line = page.locator(".cm-line").first.bounding_box()
    spot = {"clientX": line["x"] + 15, "clientY": line["y"] + line["height"] / 2}
    give(page, "drop", body, ("dot.png", "image/png", png(2, 2, (0, 0, 0))), **spot)
    page.get_by_text("dot.png attached.").wait_for(state="attached")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved now").wait_for()
    text = editor.says(2)
    assert text.startswith("![dot](attachment:")
    assert "last![image](attachment:" in text
    page.get_by_role("button", name="Preview").click()
    page.wait_for_function(
        """() => {
          const root = document.querySelector(".msdk-preview").shadowRoot;
          const widths = [...root.querySelectorAll("img")].map((each) => each.naturalWidth);
          return widths.join() === "2,700";
        }"""
    )


def test_what_is_no_picture_is_refused_with_its_reason(editor) -> None:
    """SVG, a disguised text and a file that is too large change nothing."""
    page = editor.page
    body = page.get_by_role("textbox", name="Body")
    body.click()
    alert = page.locator(".msdk-notices").get_by_role("alert")
    give(page, "paste", body, ("x.svg", "image/svg+xml", b"<svg/>"))
    alert.get_by_text("only PNG, JPEG, GIF and WebP").wait_for()
    give(page, "paste", body, ("x.png", "image/png", b"<svg onload=alert(1)/>"))
    alert.get_by_text("content is no PNG, JPEG, GIF or WebP picture").wait_for()
    give(page, "paste", body, ("big.png", "image/png", b"\0" * (5 * 1024 * 1024 + 1)))
    alert.get_by_text("the limit is 5").wait_for()
    assert editor.says(1) == ""
    assert body.inner_text().split() == ["first", "last"]


def test_a_picture_of_another_shelf_shows_its_label_alone(book) -> None:
    """The id in a body is no key: what is not on this shelf is not sent to its page."""
    secret = base64.b64encode(png(5, 5, (1, 2, 3))).decode()
    foreign = f"""
import base64
bob = store.principals.user("bob")
theirs = store.scope(acting_as=bob).attach(base64.b64decode("{secret}"), name="theirs")
shelf.save("tone", "context", f"![label](attachment:{{theirs.id}}) and ![far](https://example.org/x.png)")
"""
    notebook = book(SETUP.replace("panel = ", foreign + "panel = "))
    notebook.run(0)
    page = notebook.page
    page.get_by_role("option", name="tone").click()
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("[image: label]").wait_for()
    page.get_by_text("[image: far]").wait_for()
    assert (
        page.evaluate(
            "document.querySelector('.msdk-preview').shadowRoot.querySelectorAll('img').length"
        )
        == 0
    )


@pytest.mark.both
def test_a_folder_of_markdown_is_imported_by_a_drop(book) -> None:
    """Each file is a memory, what could not be is named, and all of it can be undone."""
    notebook = book(SETUP, "print(*(head.name for head in shelf.list()))")
    notebook.run(0)
    page = notebook.page
    page.get_by_role("option", name="tone").wait_for()
    page.evaluate(
        """() => {
          const file = (name, text) => ({
            name, fullPath: `/notes/${name}`, isDirectory: false, isFile: true,
            file: (take) => take(new File([text], name)),
          });
          const inside = [file("tea.md", "# Tea"), file("tone.md", "taken"), file("x.bin", "no")];
          const folder = {
            name: "notes", fullPath: "/notes", isDirectory: true,
            createReader: () => ({ readEntries: (take) => take(inside.splice(0)) }),
          };
          const drop = new Event("drop", { bubbles: true, cancelable: true });
          const item = { kind: "file", webkitGetAsEntry: () => folder };
          Object.defineProperty(drop, "dataTransfer", { value: { items: [item] } });
          document.querySelector(".msdk-list").dispatchEvent(drop);
        }"""
    )
    page.get_by_role("option", name="tea").wait_for()
    alert = page.locator(".msdk-notices").get_by_role("alert")
    alert.get_by_text("1 memory imported.").wait_for()
    alert.get_by_text("/notes/tone.md").wait_for()
    assert notebook.says(1) == "tone tea"
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("option", name="tea").wait_for(state="detached")
    assert notebook.says(1) == "tone"
