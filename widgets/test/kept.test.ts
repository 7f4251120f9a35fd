import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeModel, Refused, settled, stage, type Stage } from "./fake.ts";

/** A little more than the time after which typed text is kept. */
const KEPT = 760;

let panel: Stage;
const at = <T extends HTMLElement>(selector: string): T => {
  const found = panel.el.querySelector<T>(selector);
  if (!found) throw new Error(`nothing is at ${selector}`);
  return found;
};
const all = (selector: string): HTMLElement[] => [...panel.el.querySelectorAll<HTMLElement>(selector)];
const button = (text: string): HTMLElement => {
  const found = all("button").find((one) => !one.hidden && one.textContent?.trim() === text);
  if (!found) throw new Error(`no button ${text}`);
  return found;
};
const open = async (model: FakeModel): Promise<void> => {
  panel = stage(model);
  await settled(10);
};
const edit = async (text: string): Promise<void> => {
  all("[role=option]")[0]?.click();
  await settled(5);
  const body = at<HTMLTextAreaElement>("[aria-label=Body]");
  body.value = text;
  body.dispatchEvent(new Event("input", { bubbles: true }));
};
const stash = (): string[] => Object.keys(sessionStorage).filter((key) => key.startsWith("memories-sdk."));

beforeEach(() => {
  document.body.replaceChildren();
  sessionStorage.clear();
});
afterEach(() => panel.stop());

describe("what is typed and not saved", () => {
  it("is kept by the kernel once the keys rest, and nowhere else then", async () => {
    const model = new FakeModel(1);
    await open(model);
    await edit("typed");
    expect(model.drafts).toEqual([]);
    await settled(KEPT);
    expect(model.drafts[0]?.typed).toMatchObject({ memory_id: "id-0", version: 1, fields: { content: "typed" } });
    expect(stash()).toEqual([]);
    await edit("more");
    await settled(KEPT);
    expect(model.drafts.length).toBe(1);
  });

  it("is forgotten when it is saved", async () => {
    const model = new FakeModel(1);
    await open(model);
    await edit("typed");
    await settled(KEPT);
    at<HTMLFormElement>("form").requestSubmit();
    await settled(5);
    expect(model.drafts).toEqual([]);
    expect(model.docs[0]?.content).toBe("typed");
  });

  it("lies in the tab while no kernel answers, and is handed on by the next panel of the same shelf", async () => {
    const model = new FakeModel(1);
    await open(model);
    await edit("precious");
    model.dead = true;
    await settled(KEPT);
    expect(stash().length).toBe(1);
    panel.stop();

    const foreign = new FakeModel(1);
    foreign.set("principal_id", 2);
    await open(foreign);
    expect(foreign.drafts).toEqual([]);
    panel.stop();

    const next = new FakeModel(1);
    await open(next);
    expect(stash()).toEqual([]);
    expect(next.drafts[0]?.typed.fields.content).toBe("precious");
    button("Restore").click();
    await settled(10);
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("precious");
    expect(at(".msdk-state").textContent).toBe("Unsaved changes");
  });

  it("that a guard refuses lies nowhere but in the form", async () => {
    const model = new FakeModel(1);
    model.refusals.set("keep", new Refused("write_refused", "Not stored: a credential."));
    await open(model);
    await edit("sesame");
    await settled(KEPT);
    expect(stash()).toEqual([]);
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("sesame");
  });

  it("can be discarded, one after the other", async () => {
    const model = new FakeModel(1);
    const fields = { name: "", type: "plan", summary: "", tags: [], content: "x" };
    model.drafts = ["one", "two"].map((key) => ({ key, at: "2026-11-30T12:00:00+00:00", typed: { memory_id: null, version: null, fields: { ...fields, name: key } } }));
    await open(model);
    expect(at(".msdk-notices").textContent).toContain("in “one”");
    button("Discard").click();
    await settled(10);
    expect(at(".msdk-notices").textContent).toContain("in “two”");
    button("Restore").click();
    await settled(10);
    expect(at<HTMLInputElement>("[aria-label=Name]").value).toBe("two");
    expect(all(".msdk-notice")).toEqual([]);
  });

  it("on an older version meets the newer one", async () => {
    const model = new FakeModel(1);
    model.elsewhere("id-0", { content: "theirs" });
    const fields = { name: "memory 0", type: "plan", summary: "", tags: [], content: "mine" };
    model.drafts = [{ key: "k", at: "2026-11-30T12:00:00+00:00", typed: { memory_id: "id-0", version: 1, fields } }];
    await open(model);
    button("Restore").click();
    await settled(20);
    expect(at("[role=alertdialog]").textContent).toContain("Nothing of yours was saved or lost.");
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("mine");
  });

  it("is no conflict when a save was carried out after the page gave up waiting", async () => {
    const model = new FakeModel(1);
    await open(model);
    await edit("typed");
    model.elsewhere("id-0", { content: "typed" }); // the save that nobody answered
    at<HTMLFormElement>("form").requestSubmit();
    await settled(20);
    expect(all("[role=alertdialog]")).toEqual([]);
    expect(at(".msdk-state").textContent).toContain("Saved");
  });
});

describe("pictures", () => {
  const paste = async (file: File, text = false): Promise<void> => {
    const event = new Event("paste", { bubbles: true, cancelable: true });
    Object.defineProperty(event, "clipboardData", { value: { files: [file], types: text ? ["Files", "text/plain"] : ["Files"] } });
    at("[aria-label=Body]").dispatchEvent(event);
    await settled(20);
  };

  it("go to the kernel as bytes, and are named at the cursor", async () => {
    const model = new FakeModel(1);
    await open(model);
    await edit("ab");
    at<HTMLTextAreaElement>("[aria-label=Body]").setSelectionRange(1, 1);
    await paste(new File([new Uint8Array(7)], "plot.png", { type: "image/png" }));
    expect(model.sent.get("attach")).toBe(7);
    expect(at<HTMLTextAreaElement>("[aria-label=Body]").value).toBe("a![plot](attachment:pic1)b");
  });

  it("of another kind or too large never leave the page", async () => {
    const model = new FakeModel(1);
    await open(model);
    await edit("ab");
    await paste(new File(["<svg/>"], "x.svg", { type: "image/svg+xml" }));
    expect(at("[role=alert]").textContent).toContain("only PNG");
    await paste(new File([new Uint8Array(5 * 1024 * 1024 + 1)], "x.png", { type: "image/png" }));
    expect(at("[role=alert]").textContent).toContain("the limit is 5");
    expect(model.sent.size).toBe(0);
  });

  it("beside a copied text are not meant", async () => {
    const model = new FakeModel(1);
    await open(model);
    await edit("ab");
    await paste(new File([new Uint8Array(7)], "table.png", { type: "image/png" }), true);
    expect(model.sent.size).toBe(0);
  });

  it("are fetched once, however often the text is rendered", async () => {
    const model = new FakeModel(1);
    await open(model);
    await edit("![x](attachment:pic1)");
    for (let i = 0; i < 3; i += 1) {
      button("Preview").click();
      await settled(10);
    }
    expect(model.verbs().filter((verb) => verb === "picture").length).toBe(1);
    expect(at(".msdk-preview").shadowRoot?.querySelector("img")?.src).toMatch(/^blob:/);
  });
});

describe("approvals", () => {
  const asked = (id: string) => ({ id, actor: "agent:writer", description: `Delete “${id}”`, preview: "alice · global\n- old\n+ new", at: "2026-11-30T12:00:00+00:00", until: "2099-01-01T00:00:00+00:00" });
  const queue = async (model: FakeModel): Promise<void> => {
    await open(model);
    expect(at(".msdk-approvals").textContent).toBe(`Approvals ${model.requests.length}`);
    at(".msdk-approvals").click();
    await settled(10);
  };

  it("show who asks for what, and what would change", async () => {
    const model = new FakeModel(1);
    model.requests = [asked("one")];
    await queue(model);
    expect(at(".msdk-request").textContent).toContain("writer (agent)");
    expect(all(".msdk-request-diff > del, .msdk-request-diff > ins").map((line) => line.textContent?.trim())).toEqual(["- old", "+ new"]);
    expect(at(".msdk-request-where").textContent).toContain("expires in");
  });

  it("are granted and refused one by one, each with its answer", async () => {
    const model = new FakeModel(1);
    model.requests = [asked("one"), asked("two")];
    await queue(model);
    button("Grant").click();
    await settled(10);
    expect(model.last("grant")).toEqual({ id: "one" });
    expect(at(".msdk-request-answer").textContent).toBe("Deleted.");
    expect(document.activeElement?.textContent).toBe("Refuse");
    button("Refuse").click();
    await settled(10);
    expect(model.last("refuse")).toEqual({ id: "two" });
    expect(model.requests).toEqual([]);
  });

  it("say when the memory changed since", async () => {
    const model = new FakeModel(1);
    model.requests = [asked("one")];
    model.refusals.set("grant", new Refused("edit_conflict", "The memory changed: you saw version 1."));
    await queue(model);
    button("Grant").click();
    await settled(10);
    expect(at(".msdk-request-answer").textContent).toContain("Not carried out: the memory changed since");
    expect(all(".msdk-request button")).toEqual([]);
  });
});
