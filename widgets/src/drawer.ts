import { h, icon, uid } from "./dom.ts";

/** A sheet over the editor's place: a title, a way back, and what is shown. Escape closes it. */
export class Drawer {
  readonly el: HTMLElement;
  readonly body = h("div", { className: "msdk-drawer-body" });
  readonly #title = h("h3", { className: "msdk-drawer-title", id: uid("drawer"), tabIndex: -1 });
  readonly #changed: () => void;
  #opener: Element | null = null;

  /** `changed` hears when the drawer opens or closes. */
  constructor(changed: () => void) {
    this.#changed = changed;
    const close = h("button", { className: "msdk-icon-button", aria: { label: "Close" }, on: { click: () => this.close() } }, icon("close"));
    this.el = h(
      "section",
      { className: "msdk-drawer", hidden: true, aria: { labelledby: this.#title.id } },
      h("div", { className: "msdk-drawer-head" }, this.#title, close),
      this.body,
    );
    this.el.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.close();
    });
  }

  get isOpen(): boolean {
    return !this.el.hidden;
  }

  open(title: string, ...content: Node[]): void {
    if (!this.isOpen) this.#opener = document.activeElement;
    this.#title.textContent = title;
    this.body.replaceChildren(...content);
    this.el.hidden = false;
    this.#changed();
    this.#title.focus();
  }

  close(): void {
    if (!this.isOpen) return;
    this.el.hidden = true;
    this.body.replaceChildren();
    this.#changed();
    if (this.#opener instanceof HTMLElement) this.#opener.focus();
  }
}
