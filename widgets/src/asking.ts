import { h, icon, uid } from "./dom.ts";

/** An answer to a question: its name, its look, and what it does. */
export type Answer = [name: string, look: string, run: () => void];

/** The place in the form where a question stands, one at a time. Escape gives the last answer, the harmless one. */
export class Asking {
  readonly el = h("div", { className: "msdk-ask", hidden: true });
  readonly #gone: () => void;

  /** `gone` hears when what stood here is taken away. */
  constructor(gone: () => void) {
    this.#gone = gone;
  }

  ask(text: string, answers: Answer[]): void {
    const title = h("span", { className: "msdk-ask-text", id: uid("ask") }, text);
    const before = document.activeElement;
    const answer = (run: () => void) => {
      this.hush();
      if (before instanceof HTMLElement) before.focus(); // or the focus would fall out of the panel
      run();
    };
    const buttons = answers.map(([name, look, run]) => h("button", { className: `msdk-button ${look}`, on: { click: () => answer(run) } }, name));
    const box = h("div", { className: "msdk-ask-box", role: "alertdialog", aria: { labelledby: title.id } }, icon("alert"), title, h("div", { className: "msdk-ask-buttons" }, ...buttons));
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      buttons.at(-1)?.click();
    });
    this.show(box);
    buttons.at(-1)?.focus();
  }

  show(box: HTMLElement): void {
    this.el.replaceChildren(box);
    this.el.hidden = false;
  }

  hush(): void {
    this.el.hidden = true;
    this.el.replaceChildren();
    this.#gone();
  }
}
