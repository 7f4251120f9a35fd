import { h, shield } from "./dom.ts";
import type { Desk } from "./desk.ts";
import { parsed } from "./parsed.ts";
import previewCss from "./preview.css";
import type { Picture, Rendered } from "./wire.ts";

/**
 * Shows what the kernel rendered and sanitised. The shadow root keeps its ids and names off the page, and keeps the
 * page's click handlers, which act on marked elements, from finding any in it.
 */
export class Preview {
  readonly el: HTMLElement = shield(h("div", { className: "msdk-preview", role: "region", tabIndex: 0, aria: { label: "Rendered body" } }));
  readonly #page = h("div", { className: "page", dir: "auto" });

  readonly #desk: Desk;
  readonly #pictures = new Map<string, Promise<string>>();

  constructor(desk: Desk) {
    this.#desk = desk;
    desk.on("place", () => this.#forget());
    desk.signal.addEventListener("abort", () => this.#forget());
    const root = this.el.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(previewCss);
    root.adoptedStyleSheets = [sheet];
    root.append(this.#page);
  }

  /** `html` comes from the kernel's renderer and from nowhere else. */
  async show({ html, pictures }: Rendered): Promise<void> {
    const page = parsed(html);
    await Promise.all(
      [...page.querySelectorAll("img")].map(async (image) => {
        const id = pictures[image.getAttribute("src") ?? ""];
        if (id !== undefined) image.src = await this.#picture(id).catch(() => image.src);
      }),
    );
    for (const box of page.querySelectorAll("input")) box.setAttribute("aria-label", box.checked ? "Done" : "To do");
    this.#page.replaceChildren(...page.body.childNodes);
    if (!this.#page.textContent?.trim() && !this.#page.querySelector("img,hr,input")) {
      this.#page.replaceChildren(h("p", { className: "nothing" }, "Nothing to show yet."));
    }
  }

  /** The address of a picture in this page; each crosses the comm once. */
  #picture(id: string): Promise<string> {
    const known = this.#pictures.get(id);
    if (known) return known;
    const coming = this.#desk.ask<Picture>("picture", { id }).then(({ media_type, bytes }) => URL.createObjectURL(new Blob([bytes], { type: media_type })));
    coming.catch(() => this.#pictures.delete(id)); // it may be tried again
    this.#pictures.set(id, coming);
    return coming;
  }

  /** Gives the pictures back: those of another shelf are another's. */
  #forget(): void {
    for (const coming of this.#pictures.values()) void coming.then((url) => URL.revokeObjectURL(url)).catch(() => undefined);
    this.#pictures.clear();
  }

  tell(text: string): void {
    this.#page.replaceChildren(h("p", { className: "nothing", role: "alert" }, text));
  }
}
