import type { Desk } from "./desk.ts";
import { diffView, type Side } from "./diff_view.ts";
import { h, icon, uid } from "./dom.ts";
import type { Doc, Revision } from "./wire.ts";
import { who } from "./labels.ts";

export interface Choices {
  takeTheirs: () => void;
  keepMine: () => void;
  merge: () => void;
}

/** What shows when somebody else changed the memory that is being edited: who, the difference, three ways on. */
export async function conflictBox(desk: Desk, theirs: Doc, mine: Side, choices: Choices): Promise<HTMLElement> {
  const last = await desk.ask<Revision[]>("history", { id: theirs.id, limit: 1 }).catch(() => []);
  const told = last[0] ? `${who(last[0].actor)} edited “${theirs.name}” while you were editing it.` : `“${theirs.name}” was changed elsewhere while you were editing it.`;
  const title = h("span", { className: "msdk-ask-text", id: uid("conflict") }, `${told} Nothing of yours was saved or lost.`);
  const button = (name: string, look: string, run: () => void) => h("button", { className: `msdk-button ${look}`, on: { click: run } }, name);
  return h(
    "div",
    { className: "msdk-ask-box msdk-conflict", role: "alertdialog", aria: { labelledby: title.id } },
    icon("alert"),
    title,
    h(
      "div",
      { className: "msdk-ask-buttons" },
      button("Take theirs", "", choices.takeTheirs),
      button("Keep mine", "", choices.keepMine),
      button("Merge by hand", "msdk-primary", choices.merge),
    ),
    diffView(theirs, mine, ["Theirs", "Yours"]),
  );
}
