import type { Doc } from "./wire.ts";

/** What a person may change, as the form holds it. An empty summary means: derive it. */
export interface Draft {
  name: string;
  type: string;
  summary: string;
  tags: string[];
  content: string;
}

/** The draft that changes nothing of a memory. */
export function draftOf({ name, type, summary, derived, tags, content }: Doc): Draft {
  return { name, type, summary: derived ? "" : summary, tags, content };
}

export function sameTags(one: string[], other: string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What a draft changes, as the kernel is told. A summary of null goes back to the derived one. */
export function changesOf(draft: Draft, base: Draft): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const key of ["name", "type", "content"] as const) if (draft[key] !== base[key]) changes[key] = draft[key];
  if (draft.summary !== base.summary) changes["summary"] = draft.summary || null;
  if (!sameTags(draft.tags, base.tags)) changes["tags"] = draft.tags;
  return changes;
}

export function parsedTags(text: string): string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
}

/** How many characters a text has; one outside the first plane counts once, as the kernel counts it. */
export function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0xd800 || code > 0xdbff) continue;
    const next = text.charCodeAt(i + 1);
    if (next >= 0xdc00 && next <= 0xdfff) [count, i] = [count - 1, i + 1];
  }
  return count;
}
