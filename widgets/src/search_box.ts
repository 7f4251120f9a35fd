import type { Desk } from "./desk.ts";
import { h, icon } from "./dom.ts";

/** ms without a key before the kernel is asked. */
const STILL = 180;

/** Narrows the list to what a search finds, the best first. */
export function searchBox(desk: Desk): HTMLElement {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let turn = 0;
  const send = async () => {
    turn += 1;
    const mine = turn;
    const query = input.value.trim();
    const done = await desk.attempt("seek", { query });
    if (mine !== turn || done === undefined) return;
    desk.root.dataset["query"] = String(query !== "");
    desk.tell("query");
  };
  const input = h("input", {
    type: "search",
    className: "msdk-search-input",
    placeholder: "Search",
    autocomplete: "off",
    spellcheck: false,
    aria: { label: "Search memories" },
    on: {
      input: () => {
        clearTimeout(timer);
        timer = setTimeout(() => void send(), STILL);
      },
      keydown: (event) => {
        if (event.key !== "Escape" || !input.value) return;
        event.preventDefault();
        input.value = "";
        void send();
      },
    },
  });
  return h("div", { className: "msdk-search" }, icon("search"), input);
}
