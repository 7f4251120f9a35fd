import { h, shield } from "./dom.ts";
import previewCss from "./preview.css";

/**
 * Shows what the kernel rendered and sanitised. The shadow root keeps its ids and names off the page, and keeps the
 * page's click handlers, which act on marked elements, from finding any in it.
 */
export class Preview {
  readonly el: HTMLElement = shield(h("div", { className: "msdk-preview", role: "region", tabIndex: 0, aria: { label: "Rendered body" } }));
  readonly #page = h("div", { className: "page" });

  constructor() {
    const root = this.el.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(previewCss);
    root.adoptedStyleSheets = [sheet];
    root.append(this.#page);
  }

  /** `html` comes from the kernel's renderer and from nowhere else. */
  show(html: string): void {
    // Parsed without running or fetching anything; only then adopted.
    const parsed = new DOMParser().parseFromString(html, "text/html");
    this.#page.replaceChildren(...parsed.body.childNodes);
    if (!this.#page.textContent?.trim() && !this.#page.querySelector("img,hr,input")) {
      this.#page.replaceChildren(h("p", { className: "nothing" }, "Nothing to show yet."));
    }
  }

  tell(text: string): void {
    this.#page.replaceChildren(h("p", { className: "nothing", role: "alert" }, text));
  }
}
