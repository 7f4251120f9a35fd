import type { Desk } from "./desk.ts";
import { diffView, type Side } from "./diff_view.ts";
import { h } from "./dom.ts";
import type { Drawer } from "./drawer.ts";
import { ago, count, mark, moment, titled, who } from "./labels.ts";
import type { Doc, Revision } from "./wire.ts";

const DID: Record<string, string> = {
  create: "created",
  update: "edited",
  replace: "replaced a passage",
  delete: "deleted",
  clear: "cleared",
  expire: "expired",
  restore: "restored",
  move: "moved",
  depart: "moved it to another shelf",
  arrive: "moved it here from another shelf",
};

/** Who, when and how, in one line. */
export function says({ actor, action, source }: Revision): string {
  return `${who(actor)} ${DID[action] ?? action}${source ? ` (${source})` : ""}`;
}

/** What happened to one memory, each version compared with the present one, and the way back. */
export async function showHistory(desk: Desk, drawer: Drawer, doc: Doc, restored: (doc: Doc) => void): Promise<void> {
  const revisions = await desk.attempt<Revision[]>("history", { id: doc.id });
  if (!revisions) return;
  const view = h("div", { className: "msdk-history-view" }, h("p", { className: "msdk-diff-none" }, "Choose a version to compare it with the present one."));
  const buttons = revisions.map((revision) =>
    h(
      "button",
      { className: "msdk-revision", aria: { pressed: "false" }, on: { click: (event) => void show(revision, event.currentTarget as HTMLElement) } },
      h("span", { className: "msdk-revision-version" }, `v${revision.version}`),
      h("span", { className: "msdk-revision-who" }, says(revision)),
      time(revision.at),
    ),
  );
  const show = async (revision: Revision, button: HTMLElement) => {
    for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
    if (revision.version === doc.version) {
      view.replaceChildren(h("p", { className: "msdk-diff-none" }, "This is the present version."));
      return;
    }
    const past = await desk.attempt<Side>("past", { id: doc.id, version: revision.version });
    if (!past) return;
    const back = h("button", { className: "msdk-button msdk-primary", on: { click: () => void restore(revision.version) } }, `Restore version ${revision.version}`);
    view.replaceChildren(diffView(past, doc, [`Version ${revision.version}`, "Present"]), h("div", { className: "msdk-drawer-foot" }, back));
  };
  const restore = async (version: number) => {
    const now = await desk.attempt<Doc>("restore", { id: doc.id, version, expected_version: doc.version });
    if (!now) return;
    drawer.close();
    restored(now);
    desk.tell("data", { ids: [now.id], more: false });
    desk.notify({ kind: "done", text: `“${now.name}” is as it was in version ${version}.`, fades: 8_000 });
  };
  const list = h("div", { className: "msdk-revisions", role: "group", aria: { label: "Versions" } }, ...buttons);
  drawer.open(`History of “${doc.name}”`, h("div", { className: "msdk-history" }, list, view));
}

/** The memories that are gone, each with a way back. */
export async function showDeleted(desk: Desk, drawer: Drawer, restored: (id: string) => void): Promise<void> {
  const gone = await desk.attempt<Revision[]>("deleted");
  if (!gone) return;
  const bring = async (revision: Revision, line: HTMLElement) => {
    const now = await desk.attempt<Doc>("restore", { id: revision.id });
    if (!now) return;
    line.remove();
    desk.tell("data", { ids: [now.id], more: false });
    desk.say(`${now.name} is back.`);
    restored(now.id);
  };
  const lines = gone.map((revision) => {
    const badge = h("span", { className: "msdk-badge" }, mark(revision.type).badge);
    badge.style.setProperty("--hue", String(mark(revision.type).hue));
    badge.title = titled(revision.type);
    const line = h(
      "li",
      { className: "msdk-gone" },
      badge,
      h("bdi", { className: "msdk-name" }, revision.name),
      h("span", { className: "msdk-revision-who" }, says(revision)),
      time(revision.at),
      h("button", { className: "msdk-button", aria: { label: `Restore ${revision.name}` }, on: { click: () => void bring(revision, line) } }, "Restore"),
    );
    return line;
  });
  const text = gone.length ? `${count(gone.length)} of this shelf can be brought back.` : "Nothing was deleted on this shelf.";
  drawer.open("Recently deleted", h("p", { className: "msdk-diff-none" }, text), h("ul", { className: "msdk-gone-list" }, ...lines));
}

function time(at: string): HTMLElement {
  return h("time", { className: "msdk-time", dateTime: at, title: moment(at) }, ago(at));
}
