import { describe, expect, it } from "vitest";
import { codeField } from "../src/codemirror.ts";
import { lineEnds, plainField } from "../src/field.ts";

const BODIES = ["", "one line", "unix\nlines\n", "dos\r\nlines\r\n", "mixed\r\nand\nboth\r", "old\rmac\r", "blank\n\n\r\n\n", "\r\n", "ünï 👩‍👩‍👧 \u2028 end"];

describe.each([
  ["the text area", plainField],
  ["CodeMirror", codeField],
])("%s", (_name, make) => {
  it.each(BODIES)("gives back %j as it was", (body) => {
    const field = make(document.createElement("div"), "Body", () => undefined);
    field.set(body);
    expect(field.get()).toBe(body);
    field.destroy();
  });

  it("puts text at the cursor and says that something changed", () => {
    let changes = 0;
    const field = make(document.body.appendChild(document.createElement("div")), "Body", () => (changes += 1));
    field.set("ad");
    field.select(1, 1);
    field.insert("bc");
    expect(field.get()).toBe("abcd");
    expect(changes).toBe(1);
    field.destroy();
  });
});

describe("an edit from outside", () => {
  it.each([
    ["one two three", "one 2 three"],
    ["a\r\nb\r\nc", "a\r\nB\r\nC\r\nc"],
    ["", "x"],
    ["aaa", "aa"],
    ["aa", "aaa"],
  ])("makes %j into %j", (before, after) => {
    const field = codeField(document.createElement("div"), "Body", () => undefined);
    field.set(before);
    field.edit(after);
    expect(field.get()).toBe(after);
    field.destroy();
  });
});

describe("line ends", () => {
  it.each([
    ["a\nb", "\n"],
    ["a\r\nb", "\r\n"],
    ["a\r\nb\n", "mixed"],
    ["a\rb", "mixed"],
  ])("of %j are %j", (text, ends) => expect(lineEnds(text)).toBe(ends));

  it("of a dos file stay dos where a line is added", () => {
    const field = codeField(document.createElement("div"), "Body", () => undefined);
    field.set("a\r\nb");
    field.select(3, 3);
    field.insert("\nc");
    expect(field.get()).toBe("a\r\nb\r\nc");
    field.destroy();
  });
});
