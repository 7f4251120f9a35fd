import { describe, expect, it } from "vitest";
import { neighbour, Rows, shifted } from "../src/rows.ts";
import type { Row } from "../src/wire.ts";

const row = (id: string): Row => ({ id, name: id, type: "plan", summary: "", tags: [], pinned: false, updated: "", version: 1 });
const blank = (length: number): Rows => new Rows({ length, total: length, groups: [] });
const filled = (...ids: string[]): Rows => {
  const rows = blank(ids.length);
  rows.fill({ offset: 0, rows: ids.map(row) });
  return rows;
};
const order = (rows: Rows): string => Array.from({ length: rows.length }, (_, i) => rows.at(i)?.id ?? "-").join("");

describe("Rows", () => {
  it("knows what it was told and no more", () => {
    const rows = blank(5);
    rows.fill({ offset: 2, rows: [row("c"), row("d")] });
    expect(order(rows)).toBe("--cd-");
    expect(rows.gap(2, 4)).toBe(-1);
    expect(rows.gap(0, 4)).toBe(0);
    expect(rows.gap(3, 9)).toBe(4);
    expect(rows.at(-1)).toBeUndefined();
  });

  it("never grows by a window that reaches over its end", () => {
    const rows = blank(1);
    rows.fill({ offset: 0, rows: [row("a"), row("b")] });
    expect(order(rows)).toBe("a");
  });

  it.each([
    [0, 2, "bcad"],
    [3, 0, "dabc"],
    [1, 1, "abcd"],
  ])("moves %i to %i", (from, to, expected) => {
    const rows = filled("a", "b", "c", "d");
    rows.move(from, to);
    expect(order(rows)).toBe(expected);
  });
});

describe("neighbour", () => {
  it("names the row that was passed last, so that hidden rows keep their order", () => {
    const down = filled("a", "b", "c", "d");
    down.move(0, 2);
    expect(neighbour(down, 0, 2)).toEqual({ after: "c" });
    const up = filled("a", "b", "c", "d");
    up.move(3, 1);
    expect(neighbour(up, 3, 1)).toEqual({ before: "b" });
  });

  it("names nobody where the rows around are unknown", () => {
    expect(neighbour(blank(4), 0, 2)).toBeUndefined();
  });
});

describe("shifted", () => {
  it("draws the order that the drop will make", () => {
    for (const [from, to] of [[0, 2], [3, 1], [1, 1]] as const) {
      const before = ["a", "b", "c", "d"];
      const seen = before.map((id, i) => [i === from ? to : shifted(i, from, to), id] as const);
      const rows = filled(...before);
      rows.move(from, to);
      expect([...seen].sort((x, y) => x[0] - y[0]).map(([, id]) => id).join("")).toBe(order(rows));
    }
  });
});

describe("groups", () => {
  const groups = [{ type: "plan", start: 0, count: 2 }, { type: "context", start: 3, count: 1 }];
  const rows = new Rows({ length: 5, total: 3, groups });

  it("keep a row among its own kind", () => {
    expect([1, 2, 4].map((index) => rows.bounds(index))).toEqual([[1, 2], [1, 2], [4, 4]]);
    expect(blank(3).bounds(1)).toEqual([0, 2]);
  });

  it("do not count as memories", () => expect([1, 2, 4].map((index) => rows.place(index))).toEqual([1, 2, 3]));

  it("are stepped over by the focus", () => {
    expect(rows.memory(0, -1)).toBe(1);
    expect(rows.memory(3, 1)).toBe(4);
    expect(rows.memory(3, -1)).toBe(2);
    expect(rows.memory(99, 1)).toBe(4);
  });
});
