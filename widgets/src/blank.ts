import type { Desk } from "./desk.ts";
import { h, icon } from "./dom.ts";
import type { Refusal } from "./kernel.ts";
import { count } from "./labels.ts";

/** Why a list is empty. */
interface Why {
  refusal: Refusal | undefined;
  /** How many memories the shelf has, of whatever type. */
  all: number;
  again: () => void;
  create: (() => void) | undefined;
}

interface Words {
  picture: Parameters<typeof icon>[0];
  title: string;
  text: string;
  next?: [name: string, run: () => void] | undefined;
}

/** What stands in an empty list: the reason, and a next step. */
export function blank(desk: Desk, why: Why): Node[] {
  const { picture, title, text, next } = words(desk, why);
  return [
    h("div", { className: "msdk-empty-icon" }, icon(picture)),
    h("p", { className: "msdk-empty-title" }, title),
    h("p", { className: "msdk-empty-text" }, text),
    ...(next ? [h("button", { className: "msdk-button", on: { click: next[1] } }, next[0])] : []),
  ];
}

function words(desk: Desk, { refusal, all, again, create }: Why): Words {
  const filter = desk.trait("filter");
  if (refusal) {
    return { picture: "alert", title: "This shelf is closed to you", text: [refusal.message, refusal.suggestion].filter(Boolean).join(" "), next: ["Try again", again] };
  }
  if (!all) {
    const text = "Write one down here, drop a folder of markdown files, or let an agent save what it learns.";
    return { picture: "note", title: "No memories yet", text, next: create && ["Write the first one", create] };
  }
  if (filter === null || desk.root.dataset["query"] === "true") {
    return { picture: "search", title: "Nothing matches", text: "No memory of this shelf has these words." };
  }
  const widen = () => void desk.attempt("narrow", { type: null });
  return { picture: "note", title: `Nothing of type ${filter} yet`, text: `The shelf has ${count(all)} of other types.`, next: ["Show all types", widen] };
}
