import type { Group, Heading, Line, Row, Window } from "./wire.ts";

export function isHeading(line: Line | undefined): line is Heading {
  return line !== undefined && "heading" in line;
}

/** A list of which only some windows are known. Unknown places answer undefined. */
export class Rows {
  readonly #lines: (Line | undefined)[];
  readonly #groups: Group[];
  /** How many memories there are, headings not counted. */
  readonly total: number;

  constructor(window?: Pick<Window, "length" | "total" | "groups">) {
    this.#lines = new Array<Line | undefined>(window?.length ?? 0).fill(undefined);
    this.#groups = window?.groups ?? [];
    this.total = window?.total ?? 0;
  }

  get length(): number {
    return this.#lines.length;
  }

  line(index: number): Line | undefined {
    return index < 0 ? undefined : this.#lines[index];
  }

  /** The memory on that line; undefined on a heading, too. */
  at(index: number): Row | undefined {
    const line = this.line(index);
    return isHeading(line) ? undefined : line;
  }

  indexOf(id: string): number {
    return this.#lines.findIndex((line) => line?.id === id);
  }

  /** Lays a window over the list. */
  fill({ offset, rows }: Pick<Window, "offset" | "rows">): void {
    rows.forEach((line, i) => {
      if (offset + i < this.#lines.length) this.#lines[offset + i] = line;
    });
  }

  /** Moves the line at `from` to `to`; the lines between make place. */
  move(from: number, to: number): void {
    const [line] = this.#lines.splice(from, 1);
    this.#lines.splice(to, 0, line);
  }

  /** The first unknown place in [first, last), or -1. */
  gap(first: number, last: number): number {
    for (let i = Math.max(0, first); i < Math.min(last, this.length); i += 1) if (!this.#lines[i]) return i;
    return -1;
  }

  /** The lines among which the memory on line `index` may move: those of its group, else all. */
  bounds(index: number): [number, number] {
    const group = this.#groups.findLast(({ start }) => start < index);
    return group ? [group.start + 1, group.start + group.count] : [0, this.length - 1];
  }

  /** The place of line `index` among the memories, from 1. */
  place(index: number): number {
    return index + 1 - this.#groups.filter(({ start }) => start < index).length;
  }

  /** The line of a memory at or after `index` in that direction; beyond the end, the last one before it. */
  memory(index: number, step: number): number {
    const inside = Math.max(0, Math.min(this.length - 1, index));
    const heads = new Set(this.#groups.map(({ start }) => start));
    let at = inside;
    while (heads.has(at)) at += step < 0 ? -1 : 1;
    if (at >= 0 && at < this.length) return at;
    at = inside;
    while (heads.has(at)) at += step < 0 ? 1 : -1;
    return Math.max(0, at);
  }
}

/** Where line `index` shows while the one at `from` hovers over the place `to`. */
export function shifted(index: number, from: number, to: number): number {
  if (from < to && index > from && index <= to) return index - 1;
  if (to < from && index >= to && index < from) return index + 1;
  return index;
}

/** How a memory now at `to`, once at `from`, is told to the kernel: by the neighbour it passed last. */
export function neighbour(rows: Rows, from: number, to: number): { before: string } | { after: string } | undefined {
  const next = to > from ? rows.at(to - 1) : rows.at(to + 1);
  if (!next) return undefined;
  return to > from ? { after: next.id } : { before: next.id };
}
