/** One line of a comparison side by side. A missing side is undefined. */
export interface Pair {
  kind: "same" | "changed";
  left?: { at: number; text: string };
  right?: { at: number; text: string };
}

/** Most edits that are looked for; two texts further apart are shown as one replaced by the other. */
const REACH = 500;

/** Compares two texts line by line: a shortest script of lines taken out and put in, paired up. */
export function compare(left: string, right: string): Pair[] {
  const [a, b] = [left.split(/\r\n|\n/), right.split(/\r\n|\n/)];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - start && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const kept = common(a.slice(start, a.length - tail), b.slice(start, b.length - tail)).map(([i, j]) => [i + start, j + start] as const);
  const ends = Array.from({ length: tail }, (_, i) => [a.length - tail + i, b.length - tail + i] as const);
  const starts = Array.from({ length: start }, (_, i) => [i, i] as const);
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...starts, ...kept, ...ends, [a.length, b.length] as const]) {
    while (i < x || j < y) {
      pairs.push({ kind: "changed", ...side("left", a, i < x ? i++ : -1), ...side("right", b, j < y ? j++ : -1) });
    }
    if (x < a.length) pairs.push({ kind: "same", ...side("left", a, i++), ...side("right", b, j++) });
  }
  return pairs;
}

function side(name: "left" | "right", lines: string[], index: number): Partial<Pair> {
  return index < 0 ? {} : { [name]: { at: index + 1, text: lines[index] ?? "" } };
}

/** Pairs of indices of a longest common subsequence, after Myers' greedy search. */
function common(a: string[], b: string[]): [number, number][] {
  const [n, m] = [a.length, b.length];
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= Math.min(n + m, REACH); d += 1) {
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= n && x - k >= m) return walk(trace, n, m);
    }
    reach = new Map(reach);
  }
  return [];
}

function walk(trace: Map<number, number>[], n: number, m: number): [number, number][] {
  const found: [number, number][] = [];
  let [x, y] = [n, m];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = trace[d] as Map<number, number>;
    const k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1;
    const fromX = reach.get(before) ?? 0;
    while (x > fromX && y > fromX - before && x > 0 && y > 0 && x - 1 >= fromX + (down ? 0 : 1)) {
      x -= 1;
      y -= 1;
      found.push([x, y]);
    }
    [x, y] = [fromX, fromX - before];
  }
  return found.reverse();
}
