import type { Desk } from "./desk.ts";
import { h } from "./dom.ts";
import type { Drawer } from "./drawer.ts";
import { count } from "./labels.ts";
import type { Outcome, Types } from "./wire.ts";

const WORD = "clear";
/** Memories brought back in one request: an answer must come before the page gives up waiting. */
const BATCH = 100;

/** Deletes all that the filter shows, once the person has typed the word; it can be undone. */
export async function askToClear(desk: Desk, drawer: Drawer): Promise<void> {
  const types = await desk.attempt<Types>("types");
  if (!types) return;
  const filter = desk.trait("filter");
  const chosen = types.types.find(({ name }) => name === filter);
  const amount = chosen?.count ?? types.all;
  const what = chosen ? `${count(amount)} of type ${chosen.name}` : `all ${count(amount)} of this shelf`;
  const word = h("input", { type: "text", className: "msdk-input msdk-boxed", autocomplete: "off", spellcheck: false, aria: { label: `Type ${WORD} to confirm` } });
  const go = h("button", { type: "submit", className: "msdk-button msdk-danger", disabled: true }, "Clear all");
  const form = h(
    "form",
    { className: "msdk-confirm", noValidate: true },
    h("p", {}, `This deletes ${what}. You can undo it, and each memory stays under Recently deleted.`),
    h("label", {}, "To confirm, type ", h("strong", {}, WORD), word),
    h("div", { className: "msdk-ask-buttons" }, go, h("button", { className: "msdk-button", on: { click: () => drawer.close() } }, "Cancel")),
  );
  word.addEventListener("input", () => {
    go.disabled = word.value.trim().toLowerCase() !== WORD;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!go.disabled) void clear(desk, drawer, filter);
  });
  drawer.open("Clear all", form);
  word.focus();
}

async function clear(desk: Desk, drawer: Drawer, type: string | null): Promise<void> {
  const ids = await desk.attempt<string[]>("clear", { type });
  if (!ids) return;
  drawer.close();
  desk.tell("data", { ids, more: true, gone: true });
  desk.notify({ kind: "done", text: `${count(ids.length)} deleted.`, actions: [{ text: "Undo", run: () => void bringBack(desk, ids) }] });
}

async function bringBack(desk: Desk, ids: string[]): Promise<void> {
  let done = 0;
  const refused = new Set<string>();
  for (let at = 0; at < ids.length; at += BATCH) {
    if (ids.length > BATCH) desk.notify({ kind: "info", text: `Bringing back ${at.toLocaleString("en")} of ${count(ids.length)}…` });
    const outcome = await desk.attempt<Outcome>("bring_back", { ids: ids.slice(at, at + BATCH) });
    if (!outcome) break;
    done += outcome.done.length;
    for (const why of outcome.refused) refused.add(why);
  }
  desk.tell("data", { ids, more: true });
  desk.notify({ kind: refused.size ? "error" : "done", text: [`${count(done)} back.`, ...refused].join(" "), ...(refused.size ? {} : { fades: 8_000 }) });
}
