import { h } from "./dom.ts";

/** Where a body is typed. `get` answers exactly what was set, save for what was typed since. */
export interface Field {
  get(): string;
  set(text: string): void;
  /** Puts the cursor where that point of the window is, as far as the field can tell. */
  aim(x: number, y: number): void;
  /** Puts `text` in place of the selection. */
  insert(text: string): void;
  /** Makes the text `text` by an edit that can be undone. */
  edit(text: string): void;
  /** Selects the characters [from, to) and shows them. */
  select(from: number, to: number): void;
  selection(): [number, number];
  lock(on: boolean): void;
  hint(text: string): void;
  focus(): void;
  focused(): boolean;
  destroy(): void;
}

/** The text area that stands in until CodeMirror has come, and stays when it cannot. */
export function plainField(parent: HTMLElement, label: string, changed: () => void): Field {
  const area = h("textarea", { className: "msdk-area", spellcheck: true, aria: { label }, on: { input: () => changed() } });
  parent.replaceChildren(area);
  let exact = "";
  let locked = false;
  const guard = () => {
    area.readOnly = locked || lineEnds(exact) === "mixed";
  };
  return {
    // A text area shows every line end as \n; an untouched body must come back with its own.
    get: () => {
      const typed = lineFeeds(area.value);
      if (typed === lineFeeds(exact)) return exact;
      return lineEnds(exact) === "\r\n" ? typed.replaceAll("\n", "\r\n") : typed;
    },
    set: (text) => {
      exact = text;
      area.value = text;
      guard();
    },
    aim: () => undefined, // a text area tells no places; the cursor stays
    insert: (text) => {
      area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
      changed();
    },
    edit: (text) => {
      area.value = text;
      changed();
    },
    select: (from, to) => area.setSelectionRange(from, to),
    selection: () => [area.selectionStart, area.selectionEnd],
    lock: (on) => {
      locked = on;
      guard();
    },
    hint: (text) => {
      area.placeholder = text;
    },
    focus: () => area.focus(),
    focused: () => document.activeElement === area,
    destroy: () => area.remove(),
  };
}

/** How the lines of a text end. Mixed ends cannot be told apart once a text area has shown them. */
export function lineEnds(text: string): "\n" | "\r\n" | "mixed" {
  if (!text.includes("\r")) return "\n";
  return /\r(?!\n)|(^|[^\r])\n/.test(text) ? "mixed" : "\r\n";
}

/** What a text area makes of line ends. */
function lineFeeds(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}
