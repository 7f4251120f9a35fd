import type { Desk } from "./desk.ts";
import { h, icon, tool } from "./dom.ts";
import { count } from "./labels.ts";
import type { Item, Outcome, ShelfName, Types } from "./wire.ts";

/** What can be done with several memories at once. It shows while more than one is selected. */
export class BulkBar {
  readonly el: HTMLElement;
  readonly #desk: Desk;
  readonly #clear: () => void;
  readonly #count = h("span", { className: "msdk-bulk-count" });
  readonly #kinds = picker("Set kind");
  readonly #shelves = picker("Move to");
  #items: Item[] = [];

  constructor(desk: Desk, clear: () => void) {
    this.#desk = desk;
    this.#clear = clear;
    const remove = tool("trash", "Remove", () => void this.#remove());
    remove.classList.add("msdk-danger");
    this.el = h(
      "div",
      { className: "msdk-bulk", role: "toolbar", hidden: true, aria: { label: "Selected memories" } },
      this.#count,
      h("button", { className: "msdk-icon-button", aria: { label: "Deselect" }, on: { click: clear } }, icon("close")),
      ...[this.#kinds, this.#shelves].map((select) => h("span", { className: "msdk-pick-box" }, select, icon("down"))),
      tool("pin", "Pin", () => void this.#do("pin", { pinned: true }, "pinned")),
      remove,
    );
    this.#kinds.addEventListener("change", () => void this.#do("retype", { type: this.#kinds.value }, "changed"));
    this.#shelves.addEventListener("change", () => void this.#shelve(JSON.parse(this.#shelves.value) as object));
  }

  show(items: Item[]): void {
    const opens = items.length > 0 && !this.#items.length;
    this.#items = items;
    this.el.hidden = !items.length;
    this.#count.textContent = `${items.length.toLocaleString("en")} selected`;
    if (opens) void this.#offer();
  }

  async #offer(): Promise<void> {
    const [types, shelves] = await Promise.all([this.#desk.attempt<Types>("types"), this.#desk.attempt<ShelfName[]>("shelves")]);
    fill(this.#kinds, (types?.types ?? []).map(({ name, label }) => [name, label]));
    fill(this.#shelves, (shelves ?? []).map(({ name, ...place }) => [JSON.stringify(place), place.agent_id === null ? name : `Agent: ${name}`]));
  }

  async #do(verb: string, args: object, done: string): Promise<Outcome | undefined> {
    for (const select of [this.#kinds, this.#shelves]) select.selectedIndex = 0;
    const outcome = await this.#desk.change(verb, this.#items, args);
    if (outcome && !outcome.refused.length) this.#desk.notify({ kind: "done", text: `${count(outcome.done.length)} ${done}.`, fades: 8_000 });
    return outcome;
  }

  async #shelve(place: object): Promise<void> {
    const outcome = await this.#do("shelve", place, "moved");
    if (outcome?.done.length) this.#offerUndo(outcome, "moved", "fetch_back", place);
  }

  async #remove(): Promise<void> {
    const outcome = await this.#do("remove", {}, "deleted");
    if (outcome?.done.length) this.#offerUndo(outcome, "deleted", "bring_back", {});
  }

  #offerUndo({ done, refused }: Outcome, what: string, verb: string, args: object): void {
    this.#clear();
    this.#desk.notify({
      kind: refused.length ? "error" : "done",
      text: [`${count(done.length)} ${what}.`, ...new Set(refused)].join(" "),
      actions: [{ text: "Undo", run: () => void this.#bringBack(verb, done, args) }],
    });
  }

  async #bringBack(verb: string, ids: string[], args: object): Promise<void> {
    const outcome = await this.#desk.attempt<Outcome>(verb, { ids, ...args });
    if (!outcome) return;
    if (outcome.refused.length) this.#desk.notify({ kind: "error", text: [...new Set(outcome.refused)].join(" ") });
    this.#desk.tell("data", { ids, more: false });
    this.#desk.say(`${count(outcome.done.length)} back.`);
  }
}

function picker(name: string): HTMLSelectElement {
  return h("select", { className: "msdk-toggle msdk-pick", aria: { label: name } });
}

function fill(select: HTMLSelectElement, choices: [string, string][]): void {
  const title = h("option", { value: "", disabled: true, selected: true }, `${select.getAttribute("aria-label") ?? ""}…`);
  select.replaceChildren(title, ...choices.map(([value, text]) => h("option", { value }, text)));
  select.hidden = !choices.length;
}
