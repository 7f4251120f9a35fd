import { asRefusal, type Desk } from "./desk.ts";
import { h, shield, toggle } from "./dom.ts";
import { Preview } from "./preview.ts";
import type { Rendered } from "./wire.ts";

type View = "write" | "preview" | "split" | "merge";

/** ms without a key before the preview beside the text is drawn again. */
const STILL = 400;

/** The body as text, as it is rendered, as both, or beside somebody else's. */
export class Panes {
  readonly el: HTMLElement;
  readonly previewButton = toggle("eye", "Preview", () => this.#turn("preview"));
  readonly splitButton = toggle("columns", "Side by side", () => this.#turn("split"));
  readonly #desk: Desk;
  readonly #text: () => string;
  readonly #preview: Preview;
  readonly #theirs = shield(h("pre", { className: "msdk-theirs", tabIndex: 0, dir: "auto", role: "region", aria: { label: "Their version" } }));
  #still: ReturnType<typeof setTimeout> | undefined;

  /** `host` is where the body is typed; `text` answers what it holds. */
  constructor(desk: Desk, host: HTMLElement, text: () => string) {
    this.#desk = desk;
    this.#text = text;
    this.#preview = new Preview(desk);
    this.splitButton.classList.add("msdk-side");
    this.el = h("div", { className: "msdk-panes", data: { view: "write" } }, host, this.#preview.el, this.#theirs);
  }

  /** Shows the text itself, where it cannot be seen. */
  write(): void {
    if (this.#view === "preview") this.#look("write");
  }

  /** Shows `theirs` beside the text. */
  merge(theirs: string): void {
    this.#theirs.textContent = theirs;
    this.#look("merge");
  }

  /** The text stands on its own again. */
  endMerge(): void {
    if (this.#view === "merge") this.#look("write");
  }

  /** Another text is there: what shows it rendered follows at once. */
  refresh(): void {
    if (this.#view === "preview" || this.#view === "split") void this.#render();
  }

  /** Hears of every key. */
  changed(): void {
    if (this.#view !== "split") return;
    clearTimeout(this.#still);
    this.#still = setTimeout(() => void this.#render(), STILL);
  }

  get #view(): View {
    return this.el.dataset["view"] as View;
  }

  #turn(view: View): void {
    this.#look(this.#view === view ? "write" : view);
  }

  #look(view: View): void {
    this.el.dataset["view"] = view;
    this.previewButton.setAttribute("aria-pressed", String(view === "preview"));
    this.splitButton.setAttribute("aria-pressed", String(view === "split"));
    this.refresh();
  }

  async #render(): Promise<void> {
    const text = this.#text();
    try {
      const rendered = await this.#desk.ask<Rendered>("preview", { text });
      if (text === this.#text()) await this.#preview.show(rendered);
    } catch (why) {
      const { message, suggestion } = asRefusal(why);
      this.#preview.tell([message, suggestion].filter(Boolean).join(" "));
    }
  }
}
