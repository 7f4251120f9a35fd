import type { AnyModel } from "@anywidget/types";
import { Kernel } from "../src/kernel.ts";
import { mount } from "../src/ui.ts";
import type { Agent, Asked, Doc, Group, Item, Line, Principal, Revision, Row, Traits, Typed } from "../src/wire.ts";

type Args = any; // what arrives over a comm has no type; the kernel's half checks it
type Ear = (...args: unknown[]) => void;
type Message = { id: string; verb: string; args: Record<string, unknown> };

/** A refusal as the kernel's half words it. */
export class Refused extends Error {
  readonly code: string;
  readonly suggestion: string;
  constructor(code: string, message: string, suggestion = "") {
    super(message);
    this.code = code;
    this.suggestion = suggestion;
  }
}

/** A model whose other end is a shelf in this page: what the kernel's half does, without a kernel. */
export class FakeModel {
  docs: Doc[] = [];
  gone = new Map<string, Doc>();
  principals: Principal[] = [
    { id: 1, kind: "user", name: "alice", own: true },
    { id: 2, kind: "group", name: "lab", own: false },
  ];
  agents: Agent[] = [
    { id: 7, name: "reviewer" },
    { id: 8, name: "writer" },
  ];
  query = "";
  /** Every request, in order. */
  asked: { verb: string; args: Record<string, unknown> }[] = [];
  /** Verbs that are refused, and how. */
  refusals = new Map<string, Refused>();
  /** No answer comes while this is set. */
  silent = false;
  /** What is asked is done, but the answer is lost. */
  mute = false;
  dead = false;
  /** States of memories that were overwritten, oldest first. */
  past: Doc[] = [];
  /** What was typed and not saved, the last first. */
  drafts: { key: string; typed: Typed; at: string }[] = [];
  requests: Asked[] = [];
  /** Bytes that came with a request, by verb. */
  sent = new Map<string, number>();
  seq = 0;
  changed: string[] = [];
  #ears = new Map<string, Set<Ear>>();
  /** What was created, by the key of its request. */
  readonly #made = new Map<string, Doc>();
  #traits: Record<string, unknown> & Traits = {
    principal_id: 1,
    agent_id: null,
    filter: null,
    grouped: false,
    selected: null,
    dirty: false,
    revision: 0,
  };

  constructor(count = 0) {
    const types = ["plan", "documentation", "examples", "context"];
    for (let i = 0; i < count; i += 1) this.add({ name: `memory ${i}`, type: types[i % 4] ?? "plan", content: `# Body ${i}` });
  }

  add(part: Partial<Doc>): Doc {
    const id = `id-${this.docs.length + this.gone.size}`;
    const doc = { id, name: id, type: "context", summary: "", tags: [], pinned: false, version: 1, updated: "2026-11-30T12:00:00+00:00", content: "", derived: true, ...part };
    if (doc.derived && !doc.summary) doc.summary = doc.content.replace(/^#+ /, "").slice(0, 200);
    this.docs.push(doc);
    return doc;
  }

  /** Changes a memory as another process would. */
  elsewhere(id: string, part: Partial<Doc>): void {
    this.past.push({ ...this.#find(id) });
    Object.assign(this.#find(id), part);
    this.#find(id).version += 1;
    this.#note(id);
  }

  get names(): string[] {
    return this.docs.map(({ name }) => name);
  }

  verbs(): string[] {
    return this.asked.map(({ verb }) => verb);
  }

  last(verb: string): Record<string, unknown> | undefined {
    return this.asked.findLast((one) => one.verb === verb)?.args;
  }

  get(name: string): unknown {
    return this.#traits[name];
  }

  set(name: string, value: unknown): void {
    if (this.#traits[name] === value) return;
    this.#traits[name] = value;
    this.emit(`change:${name}`);
  }

  save_changes(): void {
    throw new Error("the page must not write traits");
  }

  on(name: string, fn: Ear): void {
    this.#ears.set(name, (this.#ears.get(name) ?? new Set()).add(fn));
  }

  off(name: string, fn: Ear): void {
    this.#ears.get(name)?.delete(fn);
  }

  emit(name: string, ...args: unknown[]): void {
    for (const fn of [...(this.#ears.get(name) ?? [])]) fn(...args);
  }

  /** Messages, however many requests each holds. */
  messages = 0;

  send(message: Message | { batch: Message[] }, _callbacks?: unknown, buffers: ArrayBuffer[] = []): void {
    if (this.dead) throw new Error("Cannot send");
    this.messages += 1;
    if ("batch" in message) for (const each of message.batch) this.#hear(each, []);
    else this.#hear(message, buffers);
  }

  #hear(message: Message, buffers: ArrayBuffer[]): void {
    this.asked.push({ verb: message.verb, args: message.args });
    if (buffers[0]) this.sent.set(message.verb, buffers[0].byteLength);
    if (this.silent) return;
    const back = message.verb === "picture" ? [new DataView(new ArrayBuffer(3))] : [];
    queueMicrotask(() => {
      const answer = this.#answer(message.verb, message.args);
      if (!this.mute) this.emit("msg:custom", { id: message.id, ...answer }, back);
    });
  }

  #answer(verb: string, args: Record<string, unknown>): object {
    try {
      const why = this.refusals.get(verb);
      if (why) throw why;
      const fn = this.#verbs[verb];
      if (!fn) throw new Refused("not_found", `No such request: '${verb}'.`);
      return { ok: JSON.parse(JSON.stringify(fn(args) ?? null)) };
    } catch (error) {
      const { code, message, suggestion } = error as Refused;
      return { error: { code: code ?? "internal", message, suggestion: suggestion ?? "" } };
    }
  }

  #find(id: string): Doc {
    const doc = this.docs.find((one) => one.id === id);
    if (!doc) throw new Refused("not_found", "Memory not found.");
    return doc;
  }

  #note(id: string): void {
    this.seq += 1;
    this.changed.push(id);
  }

  #matching(): Row[] {
    const filter = this.#traits.filter;
    return this.docs.filter((doc) => (filter === null || doc.type === filter) && `${doc.name} ${doc.summary}`.toLowerCase().includes(this.query));
  }

  #each(items: Item[], change: (doc: Doc) => void): object {
    const refused: string[] = [];
    const done: string[] = [];
    const versions: Record<string, number> = {};
    for (const { id, version } of items) {
      const doc = this.#find(id);
      if (doc.version === version) {
        change(doc);
        doc.version += 1;
        done.push(id);
        versions[id] = doc.version;
      } else refused.push(`The memory changed: you saw version ${version}.`);
    }
    return { done, refused, versions };
  }

  #expect(doc: Doc, version: number): void {
    if (doc.version !== version) throw new Refused("edit_conflict", `The memory changed: you saw version ${version}, it is at version ${doc.version}.`);
  }

  readonly #verbs: Record<string, (args: Args) => unknown> = {
    hello: () => ({ widget: "MemoryPanel", assets: {} }),
    places: () => ({ principals: this.principals, agents: this.#traits.principal_id === 1 ? this.agents : [] }),
    choose: ({ principal_id }) => {
      this.set("agent_id", null);
      this.set("principal_id", principal_id);
    },
    enter: ({ agent_id }) => this.set("agent_id", agent_id),
    types: () => {
      const kinds: [string, string][] = [["plan", "Plans"], ["documentation", "Docs"], ["examples", "Examples"], ["context", "Context"]];
      const types = kinds.map(([name, label]) => ({ name, label, count: this.docs.filter((d) => d.type === name).length, limit: 1_048_576, unit: "bytes" }));
      return { types, all: this.docs.length };
    },
    narrow: ({ type }) => this.set("filter", type),
    seek: ({ query }) => {
      this.query = String(query).toLowerCase();
    },
    select: ({ id }) => this.set("selected", id),
    note: ({ dirty }) => this.set("dirty", dirty),
    ids: () => this.#matching().map(({ id, version }) => ({ id, version })),
    rows: ({ offset, limit }) => {
      const found = this.#matching();
      const [lines, groups] = this.#traits.grouped ? grouped(found) : [found, []];
      return { offset, rows: lines.slice(offset, offset + limit), length: lines.length, total: found.length, all: this.docs.length, groups, ranked: this.query !== "" };
    },
    group: ({ on }) => this.set("grouped", on),
    pin: ({ items, pinned }) => this.#each(items, (doc) => void Object.assign(doc, { pinned })),
    retype: ({ items, type }) => this.#each(items, (doc) => void Object.assign(doc, { type })),
    remove: ({ items }) =>
      this.#each(items, (doc) => {
        this.gone.set(doc.id, doc);
        this.docs.splice(this.docs.indexOf(doc), 1);
      }),
    bring_back: ({ ids }) => {
      for (const id of ids) this.docs.push(this.gone.get(id) as Doc);
      for (const id of ids) this.gone.delete(id);
      return { done: ids, refused: [] };
    },
    shelves: () => [{ principal_id: 2, agent_id: null, name: "lab" }],
    shelve: ({ items }) => this.#each(items, (doc) => void this.docs.splice(this.docs.indexOf(doc), 1)),
    history: ({ id, limit }) => {
      const states = [...this.past.filter((one) => one.id === id), this.#find(id)].reverse();
      return states.slice(0, limit ?? 200).map((doc) => revision(doc, doc.version === 1 ? "create" : "update"));
    },
    past: ({ id, version }) => this.past.find((one) => one.id === id && one.version === version),
    deleted: () => [...this.gone.values()].map((doc) => revision(doc, "delete")),
    clear: ({ type }) => {
      const some = this.docs.filter((doc) => type === null || doc.type === type);
      for (const doc of some) this.gone.set(doc.id, doc);
      this.docs = this.docs.filter((doc) => !some.includes(doc));
      return some.map(({ id }) => id);
    },
    rewrite: ({ text, find, new_text }) => {
      const places = String(text).split(find).length - 1;
      if (places !== 1) throw new Refused("anchor_not_unique", `find matches ${places} occurrences.`);
      return String(text).replace(find, () => new_text);
    },
    changes: ({ since }) => {
      const ids = since === null ? [] : this.changed.slice(since);
      return { seq: this.seq, ids, more: false, pushed: false, waiting: this.requests.length };
    },
    move: ({ id, before, after }) => {
      const doc = this.#find(id);
      this.docs.splice(this.docs.indexOf(doc), 1);
      const at = this.docs.indexOf(this.#find(before ?? after));
      this.docs.splice(before === undefined ? at + 1 : at, 0, doc);
    },
    open: ({ id }) => this.#find(id),
    create: ({ key, ...args }) => {
      const made = this.#made.get(key);
      if (!made && this.names.includes(args.name)) throw new Refused("name_taken", `A memory named ${args.name} exists.`);
      const doc = made ?? this.add(args);
      this.#made.set(key, doc);
      return doc;
    },
    save: ({ id, changes, expected_version }) => {
      const doc = this.#find(id);
      this.#expect(doc, expected_version);
      this.past.push({ ...doc });
      const { summary, ...rest } = changes as Partial<Doc> & { summary?: string | null };
      Object.assign(doc, rest);
      if (summary !== undefined) Object.assign(doc, { derived: summary === null, summary: summary ?? doc.content });
      doc.version += 1;
      return doc;
    },
    delete: ({ id, expected_version }) => {
      const doc = this.#find(id);
      this.#expect(doc, expected_version);
      this.gone.set(id, doc);
      this.docs.splice(this.docs.indexOf(doc), 1);
      return true;
    },
    restore: ({ id }) => {
      const doc = this.gone.get(id);
      if (!doc) throw new Refused("not_found", "Memory not found.");
      this.gone.delete(id);
      this.docs.push(doc);
      return doc;
    },
    preview: ({ text }) => {
      const pictures = Object.fromEntries([...String(text).matchAll(/attachment:(\w+)/g)].map(([, id]) => [`data:image/gif;base64,${id}`, id]));
      const images = Object.keys(pictures).map((src) => `<img src="${src}" alt="picture">`);
      return { html: `<p>${text}</p>${images.join("")}`, pictures };
    },
    attach: ({ name }) => ({ id: "pic1", markdown: `![${name}](attachment:pic1)` }),
    picture: () => ({ media_type: "image/png" }),
    keep: ({ key, ...typed }) => {
      this.drafts = [{ key, typed, at: "2026-11-30T12:00:00+00:00" }, ...this.drafts.filter((one) => one.key !== key)];
    },
    drop: ({ key }) => {
      this.drafts = this.drafts.filter((one) => one.key !== key);
    },
    drafts: () => ({ place: `place ${this.#traits.principal_id}`, drafts: this.drafts.map(({ key, typed, at }) => ({ key, name: typed.fields.name, at })) }),
    draft: ({ key }) => this.drafts.find((one) => one.key === key)?.typed,
    requests: () => this.requests,
    grant: ({ id }) => {
      this.requests = this.requests.filter((one) => one.id !== id);
      return "Deleted.";
    },
    refuse: ({ id }) => {
      this.requests = this.requests.filter((one) => one.id !== id);
    },
    fetch_back: ({ ids }) => ({ done: ids, refused: [] }),
    take_in: ({ files, type }) => {
      const made = files.map(({ path, text }: { path: string; text: string }) => this.add({ name: path.replace(/^.*\/|\.\w+$/g, ""), type, content: text }));
      return { done: made.map(({ id }: Doc) => id), refused: [] };
    },
  };
}

function revision({ id, version, name, type, updated }: Doc, action: string): Revision {
  return { id, version, name, type, action, actor: "agent:writer", source: null, at: updated };
}

/** Lines with a heading above each type, and where the groups stand. */
function grouped(rows: Row[]): [Line[], Group[]] {
  const lines: Line[] = [];
  const groups: Group[] = [];
  for (const type of new Set(rows.map((row) => row.type))) {
    const some = rows.filter((row) => row.type === type);
    groups.push({ type, start: lines.length, count: some.length });
    lines.push({ id: `group ${type}`, heading: type, label: `${type}s`, count: some.length }, ...some);
  }
  return [lines, groups];
}

export interface Stage {
  model: FakeModel;
  el: HTMLElement;
  stop: () => void;
}

/** Puts a widget on the page with `model` behind it. CodeMirror comes only where `load` brings it. */
export function stage(model: FakeModel, widget = "MemoryPanel", load: <T>(asset: string) => Promise<T> = () => Promise.reject(new Error("absent"))): Stage {
  const el = document.createElement("div");
  document.body.append(el);
  const stop = new AbortController();
  const any = model as unknown as AnyModel;
  mount({ widget, kernel: new Kernel(any, stop.signal), model: any, el, signal: stop.signal, load });
  return { model, el, stop: () => (stop.abort(), el.remove()) };
}

/** Lets every answer that is on its way arrive. */
export async function settled(ms = 0): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

export function press(el: Element, key: string, extra: KeyboardEventInit = {}): void {
  el.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...extra }));
}
