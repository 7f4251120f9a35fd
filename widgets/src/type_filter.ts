import { asRefusal, type Desk } from "./desk.ts";
import { arrange, h, icon } from "./dom.ts";
import { mark } from "./labels.ts";
import type { TypeCount, Types } from "./wire.ts";

/** One toggle button per type, with its count; the one that is pressed narrows the list, pressed again it widens it. */
export class TypeFilter {
  readonly el = h("div", { className: "msdk-chips", role: "group", aria: { label: "Type filter" } });
  /** Puts memories of one type together. */
  readonly groupButton = h("button", { className: "msdk-icon-button msdk-group", title: "Group by type", aria: { label: "Group by type", pressed: "false" } }, icon("groups"));
  readonly #desk: Desk;
  readonly #chips = new Map<string | null, HTMLButtonElement>();
  #types: Types = { types: [], all: 0 };
  #shown: ((types: TypeCount[]) => void) | undefined;

  constructor(desk: Desk, shown?: (types: TypeCount[]) => void) {
    this.#desk = desk;
    this.#shown = shown;
    const load = () => void this.load();
    desk.on("place", load);
    desk.on("data", load);
    desk.on("filter", () => this.#draw(desk.trait("filter")));
    this.groupButton.addEventListener("click", () => void this.#group(this.groupButton.getAttribute("aria-pressed") !== "true"));
    desk.on("grouped", () => this.#press(desk.trait("grouped")));
    this.#press(desk.trait("grouped"));
  }

  async load(): Promise<void> {
    try {
      this.#types = await this.#desk.ask<Types>("types");
    } catch (why) {
      if (asRefusal(why).code === "closed") return;
      this.#types = { types: [], all: 0 };
    }
    this.#draw(this.#desk.trait("filter"));
    this.#shown?.(this.#types.types);
  }

  /** A chip that stays keeps its node: a press on one must not end on another that took its place. */
  #draw(chosen: string | null): void {
    const wanted: [string | null, string, number][] = [[null, "All", this.#types.all], ...this.#types.types.map(({ name, label, count }) => [name, label, count] as [string, string, number])];
    const chips = wanted.map(([type, name, count]) => {
      const chip = this.#chips.get(type) ?? this.#chip(type);
      chip.setAttribute("aria-pressed", String(type === chosen));
      chip.querySelector(".msdk-chip-name")?.replaceChildren(`${name} `);
      chip.querySelector(".msdk-count")?.replaceChildren(count.toLocaleString("en"));
      return chip;
    });
    arrange(this.el, chips);
  }

  #chip(type: string | null): HTMLButtonElement {
    const chip = h(
      "button",
      { className: "msdk-chip", on: { click: () => void this.#narrow(chip.getAttribute("aria-pressed") === "true" ? null : type) } },
      type === null ? null : h("span", { className: "msdk-dot", aria: { hidden: "true" } }),
      h("span", { className: "msdk-chip-name" }),
      h("span", { className: "msdk-count" }),
    );
    if (type !== null) chip.style.setProperty("--hue", String(mark(type).hue));
    this.#chips.set(type, chip);
    return chip;
  }

  #press(on: boolean): void {
    this.groupButton.setAttribute("aria-pressed", String(on));
  }

  /** Shows at once what the kernel's trait then confirms, or takes back. */
  async #group(on: boolean): Promise<void> {
    this.#press(on);
    await this.#desk.attempt("group", { on });
    this.#press(this.#desk.trait("grouped"));
  }

  async #narrow(type: string | null): Promise<void> {
    this.#draw(type);
    await this.#desk.attempt("narrow", { type });
    this.#draw(this.#desk.trait("filter"));
  }
}
