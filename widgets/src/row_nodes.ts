import { arrange, h, refill, uid } from "./dom.ts";
import { ago, titled } from "./labels.ts";
import { face, heading, skeleton } from "./row_face.ts";
import { isHeading } from "./rows.ts";
import type { Line, Row } from "./wire.ts";

/** How a row stands in its list. */
export interface Stand {
  /** px from the top of the list. */
  top: number;
  lifted: boolean;
  carried: boolean;
  active: boolean;
  marked: boolean;
  open: boolean;
  /** The place among all memories of the list, from 1. */
  place: number;
  total: number;
}

/** The nodes of the lines that are on the page, by their ids: a memory keeps its node while it can be seen. */
export class RowNodes {
  readonly el = h("div", { className: "msdk-canvas", role: "presentation" });
  readonly #stem = uid("row");
  #nodes = new Map<string, HTMLElement>();

  /** The id of a memory's node in the page. */
  id(memory: string): string {
    return `${this.#stem}-${memory}`;
  }

  /** Draws these lines and no others. */
  draw(lines: { index: number; line: Line | undefined; stand: Stand }[]): void {
    const before = this.#nodes;
    this.#nodes = new Map();
    for (const { index, line, stand } of lines) {
      const key = line?.id ?? `blank ${index}`;
      const node = before.get(key) ?? this.#make(line);
      node.style.transform = `translateY(${stand.top}px)`;
      node.classList.toggle("msdk-lifted", stand.lifted);
      if (line && !isHeading(line)) dress(node, line, stand);
      this.#nodes.set(key, node);
    }
    arrange(this.el, [...this.#nodes.values()]);
  }

  #make(line: Line | undefined): HTMLElement {
    if (!line) return skeleton();
    return isHeading(line) ? heading(line) : h("div", { className: "msdk-row", role: "option", id: this.id(line.id), data: { id: line.id } });
  }
}

function dress(node: HTMLElement, row: Row, stand: Stand): void {
  node.setAttribute("aria-selected", String(stand.marked));
  node.setAttribute("aria-posinset", String(stand.place));
  node.setAttribute("aria-setsize", String(stand.total));
  node.classList.toggle("msdk-active", stand.active);
  node.classList.toggle("msdk-carried", stand.carried);
  node.classList.toggle("msdk-open", stand.open);
  const look = JSON.stringify([row, ago(row.updated)]);
  if (node.dataset["look"] === look) return;
  node.dataset["look"] = look;
  // The name alone tells rows apart when they are read out; the rest follows as a description.
  node.setAttribute("aria-label", row.name);
  node.setAttribute("aria-description", [titled(row.type), row.pinned ? "pinned" : "", row.summary, ...row.tags].filter(Boolean).join(", "));
  refill(node, face(row));
}
