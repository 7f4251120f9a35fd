import { asRefusal, type Desk } from "./desk.ts";
import { h, icon } from "./dom.ts";
import { mark } from "./labels.ts";
import type { TypeCount, Types } from "./wire.ts";

/** One toggle button per type, with its count; the one that is pressed narrows the list, pressed again it widens it. */
export class TypeFilter {
  readonly el = h("div", { className: "msdk-chips", role: "group", aria: { label: "Type filter" } });
  /** Puts memories of one type together. */
  readonly groupButton = h("button", { className: "msdk-icon-button msdk-group", title: "Group by type", aria: { label: "Group by type", pressed: "false" } }, icon("groups"));
  readonly #desk: Desk;
  #types: Types = { types: [], all: 0 };
  #shown: ((types: TypeCount[]) => void) | undefined;

  constructor(desk: Desk, shown?: (types: TypeCount[]) => void) {
    this.#desk = desk;
    this.#shown = shown;
    const load = () => void this.load();
    desk.on("place", load);
    desk.on("data", load);
    desk.on("filter", () => this.#draw(desk.trait("filter")));
    const grouped = () => this.groupButton.setAttribute("aria-pressed", String(desk.trait("grouped")));
    this.groupButton.addEventListener("click", () => void desk.attempt("group", { on: !desk.trait("grouped") }));
    desk.on("grouped", grouped);
    grouped();
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

  #draw(chosen: string | null): void {
    const held = [...this.el.children].indexOf(document.activeElement as Element);
    const chip = (type: string | null, name: string, count: number) => {
      const button = h(
        "button",
        {
          className: "msdk-chip",
          aria: { pressed: String(type === chosen) },
          on: { click: () => void this.#narrow(type === chosen ? null : type) },
        },
        type === null ? null : h("span", { className: "msdk-dot", aria: { hidden: "true" } }),
        `${name} `,
        h("span", { className: "msdk-count" }, count.toLocaleString("en")),
      );
      if (type !== null) button.style.setProperty("--hue", String(mark(type).hue));
      return button;
    };
    this.el.replaceChildren(
      chip(null, "All", this.#types.all),
      ...this.#types.types.map(({ name, label, count }) => chip(name, label, count)),
    );
    (this.el.children[held] as HTMLElement | undefined)?.focus();
  }

  async #narrow(type: string | null): Promise<void> {
    this.#draw(type);
    await this.#desk.attempt("narrow", { type });
    this.#draw(this.#desk.trait("filter"));
  }
}
