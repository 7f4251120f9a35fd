import { compare, type Pair } from "./diff.ts";
import { h, shield } from "./dom.ts";
import { count, titled } from "./labels.ts";

/** Unchanged lines that stay around a change, and lines that are shown at most. */
const AROUND = 3;
const MOST = 2_000;

/** What a comparison shows of one side: the fields of a memory that people write. */
export interface Side {
  name: string;
  type: string;
  summary: string;
  tags: string[];
  content: string;
}

/** Two states of a memory side by side: fields that differ, then the lines of the body. */
export function diffView(left: Side, right: Side, titles: [string, string]): HTMLElement {
  const fields = (["name", "type", "summary", "tags"] as const)
    .map((key) => [key, String(left[key]), String(right[key])] as const)
    .filter(([, before, after]) => before !== after);
  const pairs = compare(left.content, right.content);
  const table = h(
    "table",
    { className: "msdk-diff" },
    h("colgroup", {}, ...["mark", "text", "mark", "text"].map((kind) => h("col", { className: `msdk-diff-col-${kind}` }))),
    h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col", colSpan: 2 }, title)))),
    h("tbody", {}, ...fields.flatMap(field), ...(fields.length ? [heading("content")] : []), ...body(pairs)),
  );
  if (!fields.length && pairs.every(({ kind }) => kind === "same")) {
    return h("p", { className: "msdk-diff-none" }, "Both are the same.");
  }
  return shield(h("div", { className: "msdk-diff-scroll", role: "region", tabIndex: 0, aria: { label: "Difference" } }, table));
}

function field([name, before, after]: readonly [string, string, string]): HTMLElement[] {
  return [heading(name), row("", before, "", after)];
}

function heading(name: string): HTMLElement {
  return h("tr", { className: "msdk-diff-fold" }, h("th", { colSpan: 4, scope: "rowgroup" }, name === "content" ? "Body" : titled(name)));
}

function body(pairs: Pair[]): HTMLElement[] {
  const near = new Set<number>();
  pairs.forEach(({ kind }, i) => {
    if (kind === "changed") for (let j = i - AROUND; j <= i + AROUND; j += 1) near.add(j);
  });
  const rows: HTMLElement[] = [];
  let hidden = 0;
  const fold = () => {
    if (hidden) rows.push(h("tr", { className: "msdk-diff-fold" }, h("td", { colSpan: 4 }, `${count(hidden, "line is", "lines are")} the same`)));
    hidden = 0;
  };
  for (const [i, { kind, left, right }] of pairs.entries()) {
    if (!near.has(i)) hidden += 1;
    else if (rows.length < MOST) {
      fold();
      const line = row(left ? String(left.at) : "", left?.text, right ? String(right.at) : "", right?.text);
      if (kind === "same") line.className = "msdk-diff-same";
      rows.push(line);
    } else hidden += 1;
  }
  fold();
  return rows;
}

function row(leftMark: string, left: string | undefined, rightMark: string, right: string | undefined): HTMLElement {
  const place = (text: string) => h("td", { className: "msdk-diff-mark" }, text);
  const cell = (tag: "del" | "ins", text: string | undefined) => h("td", { dir: "auto" }, text === undefined ? "" : h(tag, {}, text || "\u00a0"));
  return h("tr", {}, place(leftMark), cell("del", left), place(rightMark), cell("ins", right));
}
