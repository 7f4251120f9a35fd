import { describe, expect, it } from "vitest";
import { compare } from "../src/diff.ts";

/** The comparison as text: "=" kept, "-" taken out, "+" put in, "~" one line for another. */
const script = (left: string, right: string): string =>
  compare(left, right)
    .map(({ kind, left: l, right: r }) => (kind === "same" ? `=${l?.text}` : l && r ? `~${l.text}>${r.text}` : l ? `-${l.text}` : `+${r?.text}`))
    .join(" ");

describe("compare", () => {
  it.each([
    ["a\nb\nc", "a\nb\nc", "=a =b =c"],
    ["a\nb\nc", "a\nc", "=a -b =c"],
    ["a\nc", "a\nb\nc", "=a +b =c"],
    ["a\nb\nc", "a\nx\nc", "=a ~b>x =c"],
    ["", "a", "~>a"],
    ["a\nb\nc\nd\ne", "b\nd\nx\ne", "-a =b -c =d +x =e"],
    ["x", "y", "~x>y"],
  ])("of %j and %j", (left, right, expected) => expect(script(left, right)).toBe(expected));

  it("gives back both texts, whatever they are", () => {
    let seed = 7;
    const random = (n: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
    for (let round = 0; round < 300; round += 1) {
      const [left, right] = [0, 1].map(() => Array.from({ length: random(12) + 1 }, () => "abc"[random(3)]).join("\n")) as [string, string];
      const pairs = compare(left, right);
      expect(pairs.flatMap((pair) => (pair.left ? [pair.left.text] : [])).join("\n")).toBe(left);
      expect(pairs.flatMap((pair) => (pair.right ? [pair.right.text] : [])).join("\n")).toBe(right);
      for (const { kind, left: l, right: r } of pairs) if (kind === "same") expect(l?.text).toBe(r?.text);
    }
  });

  it("finds the least to change", () => {
    const kept = compare("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc").filter(({ kind }) => kind === "same");
    expect(kept.length).toBe(4);
  });

  it("ends for texts that have nothing in common", () => {
    const long = (word: string): string => Array.from({ length: 3_000 }, (_, i) => `${word} ${i}`).join("\n");
    expect(compare(long("a"), long("b")).length).toBe(3_000);
  });
});
