"""Hostile texts in the panel itself: its list and its preview, in a page that forbids much.

The page has no Jupyter around it, so that its policy can be strict: no eval, no inline script, and
trusted types for whatever could become script. Style elements are let in, since CodeMirror makes
one. The kernel's half answers in this process.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

STATIC = Path(__file__).parents[2] / "src" / "memories_sdk" / "widgets" / "static"
ADDRESS = "http://panel.test/"
POLICY = (
    "default-src 'none'; script-src 'nonce-ours' blob:; img-src data: blob:;"
    " style-src 'unsafe-inline'; require-trusted-types-for 'script'; trusted-types memories-sdk"
)
PAGE = """<!doctype html><meta charset="utf-8"><title>Panel</title><body><div id="panel-home"></div>
<script nonce="ours">
  window.seen = { ran: [], refused: [] };
  window.previews = 0;
  for (const name of ["alert", "confirm", "prompt", "print", "open"])
    window[name] = () => window.seen.ran.push(name);
  addEventListener("securitypolicyviolation", (e) =>
    window.seen.refused.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
</script>
<script nonce="ours" type="module">
  const text = await window.shellText();
  const shell = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const ears = new Map();
  const traits = JSON.parse(await window.traits());
  const model = {
    get: (name) => traits[name],
    set: (name, value) => { traits[name] = value; },
    save_changes() {},
    on(name, ear) { ears.set(name, [...(ears.get(name) ?? []), ear]); },
    off(name, ear) { ears.set(name, (ears.get(name) ?? []).filter((each) => each !== ear)); },
    send(message) {
      window.ask(JSON.stringify(message)).then((answer) => {
        for (const ear of ears.get("msg:custom") ?? []) ear(JSON.parse(answer), []);
        if (message.verb === "preview") window.previews += 1;
      });
    },
  };
  const { default: widget } = await import(shell);
  const el = document.getElementById("panel-home");
  widget.render({ model, el, signal: new AbortController().signal });
</script>"""
# Every name that script could find on the page; a body must neither add one nor shadow one.
NAMES = """() => [
  ...Object.getOwnPropertyNames(window), ...Object.keys(document), document.title, location,
  ...["cookie", "forms", "images", "body"].map((n) => `${n}:${document[n]?.constructor.name}`),
].join()"""
# Shows the body that the kernel has ready, by the panel's own button, and handles it as a
# careless reader would: the pointer over everything, the focus and clicks on all but links.
SHOW = """async () => {
  const button = window.previewButton;
  const before = window.previews;
  if (button.getAttribute("aria-pressed") === "true") button.click();
  button.click();
  while (window.previews === before) await new Promise((done) => setTimeout(done, 1));
  await new Promise((done) => setTimeout(done, 1));
  const root = document.querySelector(".msdk-preview").shadowRoot;
  for (const el of root.querySelectorAll("*")) {
    for (const kind of ["mouseover", "mouseenter", "focus", "error", "load", "animationstart"])
      el.dispatchEvent(new Event(kind, { bubbles: true }));
    if (el.tagName !== "A") el.click();
    for (const { name } of el.attributes) if (name.startsWith("on")) seen.ran.push(name);
  }
  return root.textContent.length;
}"""


def corpus(shared: Path) -> list[dict[str, str]]:
    """Return the hostile bodies, which are many."""
    found = json.loads((shared / "security" / "corpus.json").read_text("utf-8"))["items"]
    assert len(found) > 1_000
    return found


@pytest.fixture
def strict(chromium) -> Iterator[object]:
    """A page under the policy; requests but for itself are refused and kept."""
    page = chromium.new_page(viewport={"width": 1280, "height": 950})
    page.leaving = []
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))

    def answer(route) -> None:
        if route.request.url == ADDRESS:
            headers = {"Content-Security-Policy": POLICY, "Content-Type": "text/html"}
            route.fulfill(body=PAGE, headers=headers)
        else:
            page.leaving.append(route.request.url)
            route.abort()

    page.route("**", answer)
    yield page
    page.close()


def open_panel(page, panel, bodies: dict[str, str]) -> None:
    """Mount the panel with its kernel's half in this process, which shows the body in BODIES."""
    sent: list[object] = []
    panel.send = lambda content, *_: sent.append(content)

    def ask(text: str) -> str:
        message = json.loads(text)
        for each in message.get("batch", [message]):
            if each["verb"] == "preview" and bodies:
                each["args"] = {"text": bodies["now"]}
        sent.clear()
        panel._hear(panel, message, [])
        return json.dumps(sent[0])

    names = ("principal_id", "agent_id", "filter", "grouped", "selected", "dirty", "revision")
    page.expose_function("ask", ask)
    page.expose_function("traits", lambda: json.dumps({it: getattr(panel, it) for it in names}))
    page.expose_function("shellText", lambda: (STATIC / "shell.js").read_text("utf-8"))
    page.goto(ADDRESS)
    page.get_by_role("listbox", name="Memories").wait_for()


def verdict(page) -> dict[str, object]:
    """Return what happened in the page that should not, and forget it."""
    found = page.evaluate("() => { const s = seen; seen = { ran: [], refused: [] }; return s; }")
    found |= {"left": list(page.leaving), "errors": list(page.errors)}
    page.leaving.clear()
    page.errors.clear()
    return {name: value for name, value in found.items() if value}


def test_no_hostile_body_acts_in_the_preview(strict, shared) -> None:
    """Each body is shown by the panel itself: nothing runs, leaves, or takes over a name."""
    from memories_sdk import MemoryStore, widgets  # noqa: PLC0415 -- skipped where they are not

    bodies = {"now": "# Begin"}
    with MemoryStore(":memory:") as store:
        alice = store.principals.user("alice")
        store.scope(acting_as=alice).create("n", "plan", "text")
        open_panel(strict, widgets.MemoryPanel(store, acting_as=alice), bodies)
        strict.get_by_role("option", name="n").click()
        strict.locator("[data-editor=codemirror]").wait_for()
        button = strict.get_by_role("button", name="Preview")
        button.evaluate("button => { window.previewButton = button; }")
        assert strict.evaluate(SHOW) > 0
        strict.get_by_role("heading", name="Begin").wait_for()
        assert verdict(strict) == {}
        before = strict.evaluate(NAMES)
        offending = {}
        for item in corpus(shared):
            bodies["now"] = item["payload"]
            strict.evaluate(SHOW)
            found = verdict(strict)
            if strict.evaluate(NAMES) != before:
                found["names"] = True
            if found:
                offending[item["id"]] = found
        assert offending == {}


def test_no_hostile_name_summary_or_tag_acts_in_the_list(strict, shared) -> None:
    """A list of hostile names, scrolled from end to end, is a list of texts."""
    from memories_sdk import InvalidInput, MemoryStore, widgets  # noqa: PLC0415 -- as above

    with MemoryStore(":memory:") as store:
        alice = store.principals.user("alice")
        shelf = store.scope(acting_as=alice)
        for number, item in enumerate(corpus(shared)):
            line = " ".join(item["payload"].split())
            with suppress(InvalidInput):
                tags = [line[:40] or "x"]
                shelf.create(f"{number} {line[:180]}", "plan", "x", summary=line[:500], tags=tags)
        assert shelf.list().total > 1_800
        open_panel(strict, widgets.MemoryPanel(store, acting_as=alice), {})
        strict.locator("[role=option]").first.wait_for()
        before = strict.evaluate(NAMES)
        strict.locator("[role=option]").first.hover()
        seen: set[str] = set()
        still = 0
        while still < 20:
            ids = strict.locator("[role=option]").evaluate_all("all => all.map(e => e.id)")
            still = still + 1 if set(ids) <= seen else 0
            seen |= set(ids)
            strict.mouse.wheel(0, 500)
            strict.evaluate("() => new Promise(requestAnimationFrame)")
        assert len(seen) > 1_000
        assert strict.locator("[role=listbox] :is(script, iframe, img, object)").count() == 0
        assert verdict(strict) == {}
        assert strict.evaluate(NAMES) == before
