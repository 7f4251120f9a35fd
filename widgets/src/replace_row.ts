import { asRefusal, type Desk } from "./desk.ts";
import { h, toggle } from "./dom.ts";
import type { Field } from "./field.ts";

/** Replaces a passage of the text that is being edited. The kernel finds it, by the same rule as for agents: it must be unique. */
export class ReplaceRow {
  readonly el: HTMLElement;
  /** Shows the row, or hides it. */
  readonly button = toggle("replace", "Find and replace", () => this.#toggle());
  readonly #desk: Desk;
  readonly #field: () => Field;
  readonly #shown: () => void;
  readonly #find = input("Find");
  readonly #put = input("Put there");
  readonly #says = h("span", { className: "msdk-replace-says", role: "status" });

  /** `shown` hears when the row opens. */
  constructor(desk: Desk, field: () => Field, shown: () => void) {
    this.#desk = desk;
    this.#field = field;
    this.#shown = shown;
    const go = h("button", { className: "msdk-button", on: { click: () => void this.#go() } }, "Replace");
    this.el = h("div", { className: "msdk-replace", hidden: true }, this.#find, this.#put, go, this.#says);
    this.el.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
      event.preventDefault(); // Enter would save the form
      void this.#go();
    });
    // What is typed here is no edit of the memory.
    this.el.addEventListener("input", (event) => event.stopPropagation());
  }

  #toggle(): void {
    this.el.hidden = !this.el.hidden;
    this.button.setAttribute("aria-pressed", String(!this.el.hidden));
    this.#says.textContent = "";
    if (this.el.hidden) return;
    this.#shown();
    this.#find.focus();
  }

  async #go(): Promise<void> {
    const field = this.#field();
    const text = field.get();
    try {
      const changed = await this.#desk.ask<string>("rewrite", { text, find: this.#find.value, new_text: this.#put.value });
      if (field !== this.#field() || text !== field.get()) return; // somebody typed meanwhile
      field.edit(changed);
      this.#says.textContent = "Replaced.";
      this.#says.classList.remove("msdk-over");
    } catch (why) {
      const { message, suggestion } = asRefusal(why);
      this.#says.textContent = [message, suggestion].filter(Boolean).join(" ");
      this.#says.classList.add("msdk-over");
    }
  }
}

function input(name: string): HTMLInputElement {
  return h("input", { type: "text", className: "msdk-input msdk-boxed", placeholder: name, autocomplete: "off", spellcheck: false, aria: { label: name } });
}
