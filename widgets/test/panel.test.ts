import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeModel, Refused, press, settled, stage, type Stage } from "./fake.ts";

let panel: Stage;
const at = <T extends HTMLElement>(selector: string): T => {
  const found = panel.el.querySelector<T>(selector);
  if (!found) throw new Error(`nothing is at ${selector}`);
  return found;
};
const all = (selector: string): HTMLElement[] => [...panel.el.querySelectorAll<HTMLElement>(selector)];
const button = (text: string): HTMLButtonElement => {
  const found = all("button").find((one) => !one.hidden && one.textContent?.trim() === text);
  if (!found) throw new Error(`no button ${text}`);
  return found as HTMLButtonElement;
};
const shown = (): string[] => all("[role=option] .msdk-name").map((one) => one.textContent ?? "");
const list = (): HTMLElement => at("[role=listbox][aria-label=Memories]");
const said = (): string => at(".msdk-root > [role=status]").textContent ?? "";
const type = (label: string, text: string): void => {
  const input = at<HTMLInputElement>(`[aria-label=${label}]`);
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
};
const open = async (model: FakeModel, widget?: string): Promise<void> => {
  panel = stage(model, widget);
  await settled(5);
};
const choose = async (index: number): Promise<void> => {
  all("[role=option]")[index]?.click();
  await settled(5);
};

beforeEach(() => document.body.replaceChildren());
afterEach(() => panel.stop());

describe("the list", () => {
  it("shows the memories in their order, as options with their place", async () => {
    await open(new FakeModel(3));
    expect(shown()).toEqual(["memory 0", "memory 1", "memory 2"]);
    expect(all("[role=option]").map((one) => `${one.ariaPosInSet ?? one.getAttribute("aria-posinset")}/${one.getAttribute("aria-setsize")}`)).toEqual(["1/3", "2/3", "3/3"]);
  });

  it("draws a window of ten thousand, and asks for a window", async () => {
    await open(new FakeModel(10_000));
    expect(all("[role=option]").length).toBeLessThan(40);
    expect(panel.model.last("rows")).toEqual({ offset: 0, limit: 200 });
    expect(at(".msdk-canvas").style.height).toBe("580000px");
  });

  it("shows text as text", async () => {
    const model = new FakeModel();
    model.add({ name: "<img src=x onerror=alert(1)>", summary: "<b>bold</b>", tags: ["<i>"] });
    await open(model);
    expect(shown()).toEqual(["<img src=x onerror=alert(1)>"]);
    expect(list().querySelector("img, b, i")).toBeNull();
  });

  it("moves by Alt and arrows, tells the kernel once, and names the place", async () => {
    await open(new FakeModel(4));
    list().focus();
    press(list(), "ArrowDown", { altKey: true });
    press(list(), "ArrowDown", { altKey: true });
    expect(said()).toContain("position 3 of 4");
    expect(panel.model.verbs()).not.toContain("move");
    await settled(400);
    expect(panel.model.asked.filter(({ verb }) => verb === "move")).toEqual([{ verb: "move", args: { id: "id-0", after: "id-2" } }]);
    expect(panel.model.names).toEqual(["memory 1", "memory 2", "memory 0", "memory 3"]);
  });

  it("takes a move back on Escape, also one that is already sent", async () => {
    await open(new FakeModel(4));
    press(list(), "ArrowDown", { altKey: true });
    await settled(400);
    press(list(), "ArrowDown", { altKey: true });
    await settled(400);
    expect(panel.model.names[2]).toBe("memory 0");
    press(list(), "Escape");
    await settled(5);
    expect(panel.model.names).toEqual(["memory 0", "memory 1", "memory 2", "memory 3"]);
    expect(shown()).toEqual(panel.model.names);
  });

  it("carries a row after m, drops it on Enter, puts it back on Escape", async () => {
    await open(new FakeModel(4));
    press(list(), "m");
    press(list(), "ArrowDown");
    press(list(), "Escape");
    await settled(5);
    expect(panel.model.verbs()).not.toContain("move");
    expect(shown()[0]).toBe("memory 0");
    press(list(), "m");
    press(list(), "End");
    press(list(), "Enter");
    await settled(5);
    expect(panel.model.names).toEqual(["memory 1", "memory 2", "memory 3", "memory 0"]);
  });

  it("slides a refused move back and says why", async () => {
    const model = new FakeModel(4);
    model.refusals.set("move", new Refused("busy", "The store is busy.", "Try again."));
    await open(model);
    press(list(), "ArrowDown", { altKey: true });
    await settled(400);
    expect(shown()).toEqual(["memory 0", "memory 1", "memory 2", "memory 3"]);
    expect(at("[role=alert]").textContent).toContain("The store is busy. Try again.");
    expect(said()).toContain("slid back to position 1");
  });

  it("shows a refusal, not an empty list, when the shelf is taken away", async () => {
    await open(new FakeModel(2));
    for (const verb of ["rows", "types", "changes"]) panel.model.refusals.set(verb, new Refused("access_denied", "Caller does not control principal #2."));
    panel.model.set("principal_id", 2);
    await settled(5);
    expect(at(".msdk-list [role=alert]").textContent).toContain("Caller does not control principal #2.");
    expect(all("[role=option]")).toEqual([]);
  });

  it("keeps the focused row and follows changes of others", async () => {
    await open(new FakeModel(3));
    press(list(), "ArrowDown");
    panel.model.docs.unshift(panel.model.add({ name: "newcomer" }));
    panel.model.docs.pop();
    panel.model.elsewhere(panel.model.docs[0]?.id ?? "", {});
    await settled(1100);
    expect(shown()[0]).toBe("newcomer");
    expect(at(".msdk-row.msdk-active .msdk-name").textContent).toBe("memory 1");
    expect(list().getAttribute("aria-activedescendant")).toMatch(/id-1$/);
  });

  it("selects several by Space, and all by Ctrl+A", async () => {
    await open(new FakeModel(3));
    press(list(), " ");
    press(list(), "ArrowDown");
    press(list(), " ");
    expect(all("[aria-selected=true]").length).toBe(2);
    press(list(), "a", { ctrlKey: true });
    await settled(5);
    expect(all("[aria-selected=true]").length).toBe(3);
  });
});

describe("several at once", () => {
  const choice = (name: string, text: string): void => {
    const select = at<HTMLSelectElement>(`select[aria-label='${name}']`);
    select.value = [...select.options].find((one) => one.textContent === text)?.value ?? "";
    select.dispatchEvent(new Event("change", { bubbles: true }));
  };

  it("offers its bar from two on", async () => {
    await open(new FakeModel(3));
    press(list(), " ");
    expect(at("[role=toolbar]").hidden).toBe(true);
    press(list(), "ArrowDown");
    press(list(), " ");
    await settled(5);
    expect(at("[role=toolbar]").textContent).toContain("2 selected");
  });

  it("gives all another type, and moves all to another shelf", async () => {
    const model = new FakeModel(3);
    await open(model);
    press(list(), "a", { ctrlKey: true });
    await settled(5);
    choice("Set kind", "Examples");
    await settled(5);
    expect(model.docs.map((doc) => doc.type)).toEqual(["examples", "examples", "examples"]);
    choice("Move to", "lab");
    await settled(5);
    expect(model.last("shelve")).toMatchObject({ principal_id: 2, agent_id: null });
    expect(shown()).toEqual([]);
  });

  it("changes the same ones again before the list is read anew", async () => {
    const model = new FakeModel(4);
    await open(model);
    press(list(), "ArrowDown", { shiftKey: true });
    await settled(5);
    const send = model.send.bind(model);
    vi.spyOn(model, "send").mockImplementation((message, ...rest) => ("verb" in message && message.verb === "rows" ? undefined : send(message, ...rest)));
    for (let i = 0; i < 2; i += 1) {
      button("Pin").click();
      await settled(5);
    }
    expect(all(".msdk-notice-error")).toEqual([]);
    expect(model.docs.map(({ version }) => version)).toEqual([3, 3, 1, 1]);
  });

  it("deletes all, and brings them back", async () => {
    const model = new FakeModel(4);
    await open(model);
    press(list(), "ArrowDown");
    press(list(), "ArrowDown", { shiftKey: true });
    await settled(5);
    button("Remove").click();
    await settled(5);
    expect(model.names).toEqual(["memory 0", "memory 3"]);
    button("Undo").click();
    await settled(5);
    expect(model.names.length).toBe(4);
  });

  it("says which were refused", async () => {
    const model = new FakeModel(2);
    await open(model);
    press(list(), "a", { ctrlKey: true });
    await settled(5);
    model.elsewhere("id-1", {});
    button("Pin").click();
    await settled(5);
    expect(model.docs.map((doc) => doc.pinned)).toEqual([true, false]);
    expect(at("[role=alert]").textContent).toContain("The memory changed");
  });

  it("pins the focused row by p", async () => {
    const model = new FakeModel(2);
    await open(model);
    press(list(), "p");
    await settled(5);
    expect(model.docs[0]?.pinned).toBe(true);
    expect(said()).toBe("memory 0 pinned.");
  });
});

describe("groups by type", () => {
  it("put memories of one type together, and keep a moved row among them", async () => {
    await open(new FakeModel(8));
    at("button[aria-label='Group by type']").click();
    await settled(5);
    expect(shown().slice(0, 4)).toEqual(["memory 0", "memory 4", "memory 1", "memory 5"]);
    expect(all(".msdk-heading").map((one) => one.textContent)).toEqual(["plans2", "documentations2", "exampless2", "contexts2"]);
    press(list(), "m");
    press(list(), "End");
    press(list(), "Enter");
    await settled(5);
    expect(panel.model.last("move")).toEqual({ id: "id-0", after: "id-4" });
    press(list(), "ArrowDown");
    expect(at(".msdk-active .msdk-name").textContent).toBe("memory 1");
  });
});

describe("the filter, the search and the place", () => {
  it("keeps each button, so that a press that began before a refresh still is a click", async () => {
    const model = new FakeModel(4);
    await open(model);
    const before = [...all("[role=option] .msdk-name"), ...all("[role=radio]"), ...all(".msdk-chip"), ...all(".msdk-chip span")];
    model.elsewhere("id-0", { name: "renamed", content: "x" });
    model.principals.push({ id: 3, kind: "group", name: "field", own: false });
    model.agents.unshift({ id: 9, name: "archivist" });
    model.emit("change:revision");
    await settled(20);
    expect(shown()[0]).toBe("renamed");
    expect(before.filter((one) => !one.isConnected)).toEqual([]);
    model.emit("change:agent_id"); // the agents are read again, and so are the rows
    await settled(20);
    expect(all("[role=radio]").map((one) => one.textContent)).toContain("field (group)");
    expect(before.slice(4).filter((one) => !one.isConnected)).toEqual([]);
  });

  it("turns grouping on and off again, however quick the clicks", async () => {
    const model = new FakeModel(4);
    await open(model);
    for (let i = 0; i < 2; i += 1) at("[aria-label='Group by type']").click();
    await settled(5);
    expect(model.asked.filter(({ verb }) => verb === "group").map(({ args }) => args)).toEqual([{ on: true }, { on: false }]);
    expect(model.get("grouped")).toBe(false);
    expect(at("[aria-label='Group by type']").getAttribute("aria-pressed")).toBe("false");
  });

  it("narrows to a type and widens again", async () => {
    await open(new FakeModel(8));
    const chips = (): string[] => all("[aria-label='Type filter'] button").map((one) => `${one.textContent} ${one.getAttribute("aria-pressed")}`);
    expect(chips()).toEqual(["All 8 true", "Plans 2 false", "Docs 2 false", "Examples 2 false", "Context 2 false"]);
    button("Plans 2").click();
    await settled(5);
    expect(shown()).toEqual(["memory 0", "memory 4"]);
    button("Plans 2").click();
    await settled(5);
    expect(shown().length).toBe(8);
  });

  it("searches while one types", async () => {
    await open(new FakeModel(12));
    type("'Search memories'", "memory 11");
    await settled(250);
    expect(shown()).toEqual(["memory 11"]);
    press(list(), "ArrowDown", { altKey: true });
    expect(said()).toContain("Empty the search to move");
    type("'Search memories'", "nowhere");
    await settled(250);
    expect(at(".msdk-list .msdk-empty").textContent).toContain("Nothing matches");
  });

  it("misses no change that comes while another shelf is being opened", async () => {
    const model = new FakeModel(2);
    await open(model);
    model.set("principal_id", 2);
    await Promise.resolve(); // the page has asked, and nothing has been answered
    model.elsewhere("id-0", { name: "changed meanwhile" });
    await settled(5);
    model.elsewhere("id-1", { name: "changed after" });
    model.emit("change:revision");
    await settled(10);
    expect(shown()).toEqual(["changed meanwhile", "changed after"]);
  });

  it("goes to the first agent, then opens the list of agents", async () => {
    await open(new FakeModel(1));
    const radios = (): string[] => all("[aria-label=Scope] [role=radio]").map((one) => `${one.textContent} ${one.getAttribute("aria-checked")}`);
    expect(radios()).toEqual(["Global true", "Agent: reviewer false"]);
    button("Agent: reviewer").click();
    await settled(5);
    expect(panel.model.get("agent_id")).toBe(7);
    expect(radios()).toEqual(["Global false", "Agent: reviewer true"]);
    button("Agent: reviewer").click();
    const menu = at("[role=listbox][aria-label=Agents]");
    expect(menu.hidden).toBe(false);
    press(menu, "ArrowDown");
    press(menu, "Enter");
    await settled(5);
    expect(panel.model.get("agent_id")).toBe(8);
    expect(menu.hidden).toBe(true);
  });

  it("chooses a principal by arrow keys and falls back to Global", async () => {
    await open(new FakeModel(1));
    const group = at("[aria-label='Acting principal']");
    expect(all("[aria-label='Acting principal'] [role=radio]").map((one) => one.tabIndex)).toEqual([0, -1]);
    group.querySelector<HTMLElement>("[tabindex='0']")?.focus();
    press(document.activeElement as Element, "ArrowRight");
    await settled(5);
    expect(panel.model.get("principal_id")).toBe(2);
    expect(all("[aria-label=Scope] [aria-disabled=true]").length).toBe(1);
  });
});

describe("the editor", () => {
  it("opens, edits and saves what changed, with the version it saw", async () => {
    await open(new FakeModel(2));
    await choose(1);
    expect(at<HTMLInputElement>("[aria-label=Name]").value).toBe("memory 1");
    expect(button("Save").disabled).toBe(true);
    type("Body", "# New body");
    expect(button("Save").disabled).toBe(false);
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    expect(panel.model.last("save")).toEqual({ id: "id-1", changes: { content: "# New body" }, expected_version: 1 });
    expect(at(".msdk-state").dataset["state"]).toBe("clean");
    expect(panel.model.get("dirty")).toBe(false);
  });

  it("saves on Ctrl+S from anywhere in the panel", async () => {
    await open(new FakeModel(1));
    await choose(0);
    type("Tags", "a, b");
    press(list(), "s", { ctrlKey: true });
    await settled(5);
    expect(panel.model.last("save")).toMatchObject({ changes: { tags: ["a", "b"] } });
  });

  it("shows a derived summary as the placeholder, and derives again when it is emptied", async () => {
    const model = new FakeModel(1);
    await open(model);
    await choose(0);
    const summary = at<HTMLInputElement>("[aria-label=Summary]");
    expect([summary.value, summary.placeholder]).toEqual(["", "Body 0"]);
    type("Summary", "mine");
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    type("Summary", "");
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    expect(model.last("save")).toMatchObject({ changes: { summary: null } });
  });

  it("guards unsaved edits when another memory is opened", async () => {
    await open(new FakeModel(2));
    await choose(0);
    type("Body", "typed");
    await choose(1);
    expect(at("[role=alertdialog]").textContent).toContain("memory 0");
    button("Keep editing").click();
    await settled(5);
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("typed");
    await choose(1);
    button("Discard them").click();
    await settled(5);
    expect(at<HTMLInputElement>("[aria-label=Name]").value).toBe("memory 1");
    expect(panel.model.verbs()).not.toContain("save");
  });

  describe("that meets another's change", () => {
    let model: FakeModel;
    const conflict = (): HTMLElement => at("[role=alertdialog]");
    beforeEach(async () => {
      model = new FakeModel(1);
      await open(model);
      await choose(0);
      type("Body", "mine");
      model.elsewhere("id-0", { content: "theirs" });
      at<HTMLFormElement>("form").requestSubmit();
      await settled(5);
    });

    it("saves nothing, and says who did what, with the difference", () => {
      expect(model.docs[0]?.content).toBe("theirs");
      expect(conflict().textContent).toContain("writer (agent) edited “memory 0” while you were editing it.");
      expect(all("[role=alertdialog] tbody td").map((cell) => cell.textContent)).toEqual(["1", "theirs", "1", "mine"]);
    });

    it("takes theirs", async () => {
      button("Take theirs").click();
      await settled(5);
      expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("theirs");
      expect(at(".msdk-state").dataset["state"]).toBe("clean");
    });

    it("keeps mine, on their version", async () => {
      button("Keep mine").click();
      await settled(5);
      expect(model.last("save")).toMatchObject({ changes: { content: "mine" }, expected_version: 2 });
      expect(model.docs[0]?.content).toBe("mine");
    });

    it("shows theirs beside mine for a merge by hand", async () => {
      button("Merge by hand").click();
      await settled(5);
      expect(at("[aria-label='Their version']").textContent).toBe("theirs");
      expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("mine");
      expect(model.docs[0]?.content).toBe("theirs");
      type("Body", "both");
      at<HTMLFormElement>("form").requestSubmit();
      await settled(5);
      expect(model.docs[0]?.content).toBe("both");
      expect(at(".msdk-panes").dataset["view"]).toBe("write");
    });

    it("is told again of a further change", async () => {
      button("Keep mine").click();
      model.elsewhere("id-0", { content: "theirs again" });
      await settled(5);
      expect(model.docs[0]?.content).toBe("theirs again");
      expect(conflict().textContent).toContain("while you were editing it");
    });
  });

  it("hears of another's change before it saves, and keeps what is typed", async () => {
    const model = new FakeModel(1);
    await open(model);
    await choose(0);
    type("Body", "mine");
    model.elsewhere("id-0", { content: "theirs" });
    await settled(1100);
    expect(at("[role=alertdialog]").textContent).toContain("while you were editing it");
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("mine");
  });

  it("follows others as long as nothing is typed", async () => {
    const model = new FakeModel(1);
    await open(model);
    await choose(0);
    model.elsewhere("id-0", { content: "theirs" });
    await settled(1100);
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("theirs");
  });

  it("keeps what is typed when the memory is deleted elsewhere, and saves it anew", async () => {
    const model = new FakeModel(1);
    await open(model);
    await choose(0);
    type("Body", "precious");
    model.docs = [];
    model.changed.push("id-0");
    model.seq += 1;
    await settled(1100);
    expect(at(".msdk-notice").textContent).toContain("was deleted elsewhere");
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    expect(model.docs.map(({ name, content }) => [name, content])).toEqual([["memory 0", "precious"]]);
  });

  it("keeps what is typed when somebody else opens another shelf", async () => {
    const model = new FakeModel(1);
    await open(model);
    await choose(0);
    type("Body", "precious");
    model.set("principal_id", 2);
    await settled(5);
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("precious");
    expect(at(".msdk-notice").textContent).toContain("Another shelf was opened");
    expect(model.last("save")).toBeUndefined();
  });

  it("never lets the focus fall out of the panel", async () => {
    await open(new FakeModel(2));
    list().focus();
    await choose(0);
    button("Delete").focus();
    button("Delete").click();
    expect(document.activeElement?.textContent).toBe("Keep it");
    button("Keep it").click();
    expect(document.activeElement).toBe(button("Delete"));
    button("Delete").click();
    button("Yes, delete").click();
    await settled(5);
    expect(document.activeElement).toBe(list());
  });

  it("asks before a delete, and undoes it", async () => {
    const model = new FakeModel(2);
    await open(model);
    await choose(0);
    button("Delete").click();
    expect(model.verbs()).not.toContain("delete");
    button("Yes, delete").click();
    await settled(5);
    expect(model.names).toEqual(["memory 1"]);
    button("Undo").click();
    await settled(5);
    expect(model.names).toContain("memory 0");
  });

  it("keeps the line ends of an untouched body", async () => {
    const model = new FakeModel();
    model.add({ name: "dos", content: "one\r\ntwo\r\n" });
    await open(model);
    await choose(0);
    expect(at(".msdk-state").dataset["state"]).toBe("clean");
    type("Name", "renamed");
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    expect(model.last("save")).toMatchObject({ changes: { name: "renamed" } });
  });

  it("leaves a tag with a comma alone", async () => {
    const model = new FakeModel();
    model.add({ name: "tagged", tags: ["one, two", "three"] });
    await open(model);
    await choose(0);
    expect(at(".msdk-state").dataset["state"]).toBe("clean");
    type("Name", "renamed");
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    expect(model.last("save")).toMatchObject({ changes: { name: "renamed" } });
    expect(model.docs[0]?.tags).toEqual(["one, two", "three"]);
  });

  it("creates a memory of the type that is filtered", async () => {
    const model = new FakeModel(4);
    await open(model);
    button("Docs 1").click();
    await settled(5);
    button("New memory").click();
    await settled(5);
    expect(at<HTMLSelectElement>("[aria-label=Type]").value).toBe("documentation");
    type("Name", "fresh");
    type("Body", "text");
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    expect(model.last("create")).toMatchObject({ name: "fresh", type: "documentation", content: "text", tags: [] });
    expect(shown()).toContain("fresh");
  });

  describe("when nobody answers a create", () => {
    let model: FakeModel;
    const save = async (): Promise<void> => {
      at<HTMLFormElement>("form").requestSubmit();
      await vi.advanceTimersByTimeAsync(31_000);
    };

    beforeEach(async () => {
      model = new FakeModel(1);
      await open(model);
      button("New memory").click();
      await settled(5);
      type("Name", "fresh");
      type("Body", "text");
      vi.useFakeTimers();
    });
    afterEach(() => vi.useRealTimers());

    it("knows its own write at the next save", async () => {
      model.mute = true;
      await save();
      expect(at(".msdk-lost").textContent).toContain("What you typed is still here");
      model.mute = false;
      await save();
      expect(model.names).toEqual(["memory 0", "fresh"]);
      expect(at(".msdk-state").textContent).toMatch(/^Saved/);
      expect(all(".msdk-notice")).toEqual([]);
      expect(button("Delete").hidden).toBe(false);
    });

    it("saves what was typed since as a change of it", async () => {
      model.mute = true;
      await save();
      type("Body", "text and more");
      model.mute = false;
      await save();
      expect(model.names).toEqual(["memory 0", "fresh"]);
      expect(model.docs[1]).toMatchObject({ content: "text and more", version: 2 });
      expect(at(".msdk-state").textContent).toMatch(/^Saved/);
    });

    it("tries again as it is now when the first try was refused", async () => {
      model.silent = true;
      type("Name", "memory 0");
      await save();
      type("Name", "another");
      model.silent = false;
      await save();
      expect(model.names).toEqual(["memory 0", "another"]);
    });
  });

  it("replaces a passage that is unique, and says why it does not", async () => {
    const model = new FakeModel();
    model.add({ name: "twice", content: "red and red and blue" });
    await open(model);
    await choose(0);
    button("Find and replace").click();
    type("Find", "red");
    type("'Put there'", "green");
    button("Replace").click();
    await settled(5);
    expect(at(".msdk-replace-says").textContent).toContain("matches 2");
    expect(button("Save").disabled).toBe(true);
    type("Find", "blue");
    button("Replace").click();
    await settled(5);
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("red and red and green");
    expect(button("Save").disabled).toBe(false);
    expect(model.verbs()).not.toContain("save");
  });

  it("pins without waiting for a save, and keeps what is typed", async () => {
    const model = new FakeModel(1);
    await open(model);
    await choose(0);
    type("Body", "typed");
    at("button[aria-label=Pin]").click();
    await settled(5);
    expect(model.docs[0]).toMatchObject({ pinned: true, content: "# Body 0" });
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    expect(model.docs[0]).toMatchObject({ pinned: true, content: "typed" });
  });

  it("shows the preview in a shadow root, where its ids and scripts reach nobody", async () => {
    const model = new FakeModel(1);
    await open(model);
    await choose(0);
    button("Preview").click();
    await settled(5);
    const preview = at("[aria-label='Rendered body']");
    expect(preview.shadowRoot?.textContent).toContain("# Body 0");
    expect(preview.childNodes.length).toBe(0);
  });
});

describe("the past", () => {
  it("shows each version against the present one, and restores it", async () => {
    const model = new FakeModel(1);
    await open(model);
    model.elsewhere("id-0", { content: "second" });
    await choose(0);
    at("button[aria-label=History]").click();
    await settled(5);
    expect(at(".msdk-drawer-title").textContent).toBe("History of “memory 0”");
    expect(all(".msdk-revision .msdk-revision-version").map((one) => one.textContent)).toEqual(["v2", "v1"]);
    all(".msdk-revision")[1]?.click();
    await settled(5);
    expect(all(".msdk-diff tbody td").map((cell) => cell.textContent)).toEqual(["1", "# Body 0", "1", "second"]);
    model.refusals.set("restore", new Refused("name_taken", "Another memory has its name and type now."));
    button("Restore version 1").click();
    await settled(5);
    expect(at("[role=alert]").textContent).toContain("Another memory has its name");
    expect(model.last("restore")).toEqual({ id: "id-0", version: 1, expected_version: 2 });
    press(at(".msdk-drawer"), "Escape");
    expect(at(".msdk-drawer").hidden).toBe(true);
  });

  const fromMenu = async (text: string): Promise<void> => {
    at("button[aria-label=More]").click();
    all("[role=menuitem]").find((one) => one.textContent === text)?.click();
    await settled(5);
  };

  it("brings back what was deleted", async () => {
    const model = new FakeModel(2);
    await open(model);
    await choose(0);
    button("Delete").click();
    button("Yes, delete").click();
    await settled(5);
    await fromMenu("Recently deleted");
    expect(all(".msdk-gone .msdk-name").map((one) => one.textContent)).toEqual(["memory 0"]);
    at("button[aria-label='Restore memory 0']").click();
    await settled(5);
    expect(model.names).toEqual(["memory 1", "memory 0"]);
  });

  it("clears only after the word is typed, and undoes that", async () => {
    const model = new FakeModel(8);
    await open(model);
    button("Plans 2").click();
    await settled(5);
    await choose(0); // what is open goes with the others, and says nothing of its own
    await fromMenu("Clear all…");
    expect(at(".msdk-drawer").textContent).toContain("2 memories of type plan");
    expect(button("Clear all").disabled).toBe(true);
    type("'Type clear to confirm'", "clear");
    button("Clear all").click();
    await settled(5);
    expect(model.docs.length).toBe(6);
    expect(at<HTMLFormElement>("form").hidden).toBe(true);
    button("Undo").click();
    await settled(5);
    expect(model.docs.length).toBe(8);
  });
});

describe("every part", () => {
  it("shields each element that takes the focus from the notebook's keys", async () => {
    await open(new FakeModel(3));
    await choose(0);
    button("Delete").click();
    const stops = all("button, input, select, textarea, a, [tabindex]");
    expect(stops.length).toBeGreaterThan(20);
    expect(stops.filter((one) => one.dataset["lmSuppressShortcuts"] !== "true")).toEqual([]);
  });

  it("says when the kernel is gone, and keeps what was typed", async () => {
    await open(new FakeModel(1));
    await choose(0);
    type("Body", "typed");
    panel.model.dead = true;
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    expect(at(".msdk-lost").textContent).toContain("Not connected");
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("typed");
  });

  it.each(["PrincipalPicker", "TypeFilter", "MemoryList", "MarkdownEditor"])("%s stands alone", async (widget) => {
    const model = new FakeModel(2);
    model.set("selected", "id-0");
    await open(model, widget);
    const mark = { PrincipalPicker: "[role=radiogroup]", TypeFilter: "[role=group]", MemoryList: "[role=option]", MarkdownEditor: "form:not([hidden])" }[widget];
    expect(all(mark ?? "none").length).toBeGreaterThan(0);
    expect(all("[role=alert]")).toEqual([]);
  });
});
