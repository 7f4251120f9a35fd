import { describe, expect, it } from "vitest";
import { changesOf, characters, type Draft, parsedTags } from "../src/draft.ts";

const base: Draft = { name: "a", type: "plan", summary: "", tags: ["x"], content: "text" };

describe("what a draft changes", () => {
  it("is nothing for the draft itself", () => expect(changesOf({ ...base, tags: ["x"] }, base)).toEqual({}));

  it.each<[Partial<Draft>, object]>([
    [{ name: "b" }, { name: "b" }],
    [{ content: "" }, { content: "" }],
    [{ tags: [] }, { tags: [] }],
    [{ summary: "s" }, { summary: "s" }],
  ])("for %j is %j", (part, expected) => expect(changesOf({ ...base, ...part }, base)).toEqual(expected));

  it("goes back to the derived summary when it is emptied", () => {
    expect(changesOf(base, { ...base, summary: "mine" })).toEqual({ summary: null });
  });
});

describe("small things", () => {
  it("takes tags apart at commas, without blanks", () => expect(parsedTags(" a, b c ,, d")).toEqual(["a", "b c", "d"]));

  it.each(["", "abc", "ünï", "👩‍👩‍👧", "\ud83d", "a\udc00b", "\ud83d\ud83d\ude00"])("counts the characters of %j as Python does", (text) => {
    expect(characters(text)).toBe([...text].length);
  });
});
