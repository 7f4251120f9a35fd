import type { Row, Window } from "./wire.ts";

/** A list of which only some windows are known. Unknown places answer undefined. */
export class Rows {
  readonly #items: (Row | undefined)[];

  constructor(total = 0) {
    this.#items = new Array<Row | undefined>(total).fill(undefined);
  }

  get length(): number {
    return this.#items.length;
  }

  at(index: number): Row | undefined {
    return index < 0 ? undefined : this.#items[index];
  }

  indexOf(id: string): number {
    return this.#items.findIndex((row) => row?.id === id);
  }

  /** Lays a window over the list. */
  fill({ offset, rows }: Window): void {
    rows.forEach((row, i) => {
      if (offset + i < this.#items.length) this.#items[offset + i] = row;
    });
  }

  /** Moves the row at `from` to `to`; the rows between make place. */
  move(from: number, to: number): void {
    const [row] = this.#items.splice(from, 1);
    this.#items.splice(to, 0, row);
  }

  replace(index: number, row: Row): void {
    this.#items[index] = row;
  }

  /** The first unknown place in [first, last), or -1. */
  gap(first: number, last: number): number {
    for (let i = Math.max(0, first); i < Math.min(last, this.length); i += 1) if (!this.#items[i]) return i;
    return -1;
  }
}

/** Where row `index` shows while the row at `from` hovers over the place `to`. */
export function shifted(index: number, from: number, to: number): number {
  if (from < to && index > from && index <= to) return index - 1;
  if (to < from && index >= to && index < from) return index + 1;
  return index;
}

/** How a row now at `to`, once at `from`, is told to the kernel: by the neighbour it passed last. */
export function neighbour(rows: Rows, from: number, to: number): { before: string } | { after: string } | undefined {
  const next = to > from ? rows.at(to - 1) : rows.at(to + 1);
  if (!next) return undefined;
  return to > from ? { after: next.id } : { before: next.id };
}
