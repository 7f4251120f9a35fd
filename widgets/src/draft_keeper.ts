import { asRefusal, type Desk } from "./desk.ts";
import type { Draft } from "./draft.ts";
import { newKey } from "./dom.ts";
import { ago } from "./labels.ts";
import type { Kept, Typed, Unsaved } from "./wire.ts";

/** ms without a key before what was typed is kept. */
const STILL = 700;
const STEM = "memories-sdk.unsaved.";
const LIVE = Symbol.for("memories-sdk.live-drafts");

/** Refusals after which the kernel may yet take a text. */
const LATER = new Set(["dead", "timeout", "closed", "busy", "internal", "storage"]);

/** A text that the kernel has not confirmed, as this tab holds it. */
interface Stashed {
  place: string;
  key: string;
  typed: Typed;
}

/** Keys of the drafts that some view of this page is editing right now. */
function live(): Set<string> {
  const page = globalThis as unknown as Record<symbol, Set<string> | undefined>;
  return (page[LIVE] ??= new Set());
}

/**
 * Keeps what a person typed and did not save. The kernel stores it, so that it outlives the tab and the kernel. Until the
 * kernel has confirmed it, it also lies in the tab's own storage: no file, no other tab, gone with the tab.
 */
export class DraftKeeper {
  readonly #desk: Desk;
  readonly #read: () => Typed | undefined;
  #place: string | undefined;
  #key: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #offered: (() => void) | undefined;

  /** `read` answers what is unsaved, or undefined. */
  constructor(desk: Desk, read: () => Typed | undefined) {
    this.#desk = desk;
    this.#read = read;
    const { signal } = desk;
    window.addEventListener("pagehide", () => this.flush(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden && this.flush(), { signal });
    signal.addEventListener("abort", () => {
      this.flush();
      if (this.#key) live().delete(this.#key);
    });
  }

  /** Hears of every key: an unsaved text is kept once the keys rest, one that was saved or discarded is forgotten. */
  changed(dirty: boolean): void {
    clearTimeout(this.#timer);
    if (dirty) this.#timer = setTimeout(() => this.flush(), STILL);
    else this.#forget();
  }

  /** Keeps at once what is unsaved. */
  flush(): void {
    clearTimeout(this.#timer);
    const typed = this.#place === undefined ? undefined : this.#read();
    if (!typed || this.#place === undefined) return;
    if (!this.#key) this.adopt(newKey());
    void this.#keep({ place: this.#place, key: this.#key ?? "", typed });
  }

  /** Goes on with the draft of that key. */
  adopt(key: string): void {
    this.#key = key;
    live().add(key);
  }

  /** Another shelf is open: what was kept on the old one stays there. */
  leave(): void {
    clearTimeout(this.#timer);
    if (this.#key) live().delete(this.#key);
    this.#key = undefined;
    this.#place = undefined;
  }

  /** Offers the last text of this shelf that was typed and never saved; `restore` puts it into the form. */
  async offer(restore: (kept: Kept) => void): Promise<void> {
    const [last] = await this.#unsaved();
    this.#offered?.();
    if (!last || this.#desk.signal.aborted) return;
    this.#offered = this.#desk.hold({
      kind: "info",
      text: `Unsaved text of ${ago(last.at)} in “${last.name || "a new memory"}”.`,
      actions: [
        { text: "Restore", run: () => restore(last) },
        { text: "Discard", run: () => (this.#drop(last.key), void this.offer(restore)) },
      ],
    });
  }

  /** What was typed on this shelf and never saved, the last first. */
  async #unsaved(): Promise<Kept[]> {
    let found = await this.#drafts();
    if (!found) return [];
    this.#place = found.place;
    const mine = stashed(found.place).filter(({ key }) => !live().has(key));
    await Promise.all(mine.map((each) => this.#keep(each)));
    if (mine.length) found = (await this.#drafts()) ?? found;
    if (this.#read()) this.changed(true); // typed while this was on its way
    return found.drafts.filter(({ key }) => !live().has(key));
  }

  /** Forgets a draft for good. */
  #drop(key: string): void {
    unstash(key);
    void this.#desk.kernel.call("drop", { key }).catch(() => undefined);
  }

  #forget(): void {
    if (!this.#key) return;
    live().delete(this.#key);
    this.#drop(this.#key);
    this.#key = undefined;
  }

  #drafts(): Promise<Unsaved | undefined> {
    return this.#desk.kernel.call<Unsaved>("drafts").catch(() => undefined);
  }

  async #keep(text: Stashed): Promise<void> {
    stash(text);
    const { key, typed } = text;
    try {
      await this.#desk.kernel.call("keep", { key, ...typed });
      if (JSON.stringify(stashed(text.place).find((each) => each.key === key)) === JSON.stringify(text)) unstash(key);
    } catch (why) {
      if (!LATER.has(asRefusal(why).code)) unstash(key); // a guard, perhaps: what it refuses lies nowhere
    }
  }
}

/** What a draft keeps of the form. */
export function typedOf(doc: { id: string; version: number } | undefined, fields: Draft): Typed {
  return { memory_id: doc?.id ?? null, version: doc?.version ?? null, fields };
}

// Some hosts forbid a page its storage; the kernel then is the only keeper.

function stash(text: Stashed): void {
  try {
    sessionStorage.setItem(STEM + text.key, JSON.stringify(text));
  } catch {
    unstash(text.key);
  }
}

function unstash(key: string): void {
  try {
    sessionStorage.removeItem(STEM + key);
  } catch {
    // nothing can lie there
  }
}

function stashed(place: string): Stashed[] {
  try {
    return Object.keys(sessionStorage)
      .filter((name) => name.startsWith(STEM))
      .map((name) => JSON.parse(sessionStorage.getItem(name) ?? "null") as Stashed)
      .filter((text) => text?.place === place);
  } catch {
    return [];
  }
}
