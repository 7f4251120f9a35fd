import { h, icon } from "./dom.ts";
import { ago, mark, moment, titled } from "./labels.ts";
import type { Heading, Row } from "./wire.ts";

/** What stands on a row. */
export function face(row: Row): Node[] {
  const { badge, hue } = mark(row.type);
  const kind = h("span", { className: "msdk-badge", title: titled(row.type) }, badge);
  kind.style.setProperty("--hue", String(hue));
  return [
    h("span", { className: "msdk-grip", title: "Drag to move", aria: { hidden: "true" } }, icon("grip")),
    h(
      "span",
      { className: "msdk-row-text" },
      h(
        "span",
        { className: "msdk-row-head" },
        kind,
        h("bdi", { className: "msdk-name" }, row.name),
        row.pinned ? h("span", { className: "msdk-pin", title: "Pinned" }, icon("pin"), h("span", { className: "msdk-sr" }, "pinned")) : null,
        h("time", { className: "msdk-time", dateTime: row.updated, title: moment(row.updated) }, ago(row.updated)),
      ),
      h(
        "span",
        { className: "msdk-row-foot" },
        h("bdi", { className: "msdk-summary" }, row.found || row.summary || "No summary"),
        ...row.tags.slice(0, 2).map((tag) => h("bdi", { className: "msdk-tag" }, tag)),
      ),
    ),
    h("span", { className: "msdk-tick", title: "Select", aria: { hidden: "true" } }, icon("check")),
  ];
}

/** The line above the memories of one type. */
export function heading({ heading: type, label, count: n }: Heading): HTMLElement {
  const line = h("div", { className: "msdk-heading", aria: { hidden: "true" } }, h("span", { className: "msdk-dot" }), label, h("span", { className: "msdk-count" }, n.toLocaleString("en")));
  line.style.setProperty("--hue", String(mark(type).hue));
  return line;
}

/** A row that has not come yet. */
export function skeleton(): HTMLElement {
  return h("div", { className: "msdk-row msdk-skeleton", aria: { hidden: "true" } }, h("span"), h("span"));
}
