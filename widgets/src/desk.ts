import type { AnyModel } from "@anywidget/types";
import { h, icon } from "./dom.ts";
import { type Kernel, Refusal } from "./kernel.ts";
import type { Changes, Item, Outcome, Traits } from "./wire.ts";

/** What parts of a widget tell each other. `data`: memories changed, by anybody; `gone` ones were taken away by this view. */
interface Events {
  place: undefined;
  filter: undefined;
  grouped: undefined;
  query: undefined;
  selected: string | null;
  dirty: boolean;
  data: { ids: string[]; more: boolean; gone?: boolean; versions?: Record<string, number> };
  refused: Refusal;
  waiting: number;
}

interface Action {
  text: string;
  run: () => void;
}

export interface Notice {
  kind: "info" | "done" | "error";
  text: string;
  suggestion?: string;
  actions?: Action[];
  /** ms until it goes by itself; without it the notice stays until it is closed or replaced. */
  fades?: number;
}

/** What `mount` is given by the shell. */
export interface Mount {
  widget: string;
  kernel: Kernel;
  model: AnyModel;
  el: HTMLElement;
  signal: AbortSignal;
  load: <T>(asset: string) => Promise<T>;
}

/** Between two looks for the changes of others, in ms: where the kernel does not tell, and where it does. */
const LOOK = 900;
const CALL = 15_000;
/** How long the kernel may be silent before the banner says so, in ms. It may be busy with a cell. */
const PATIENCE = 8_000;

/** What the parts of one view share: the kernel, the kernel's traits, the banner, the live region, the news. */
export class Desk {
  readonly kernel: Kernel;
  readonly model: AnyModel;
  readonly signal: AbortSignal;
  readonly load: Mount["load"];
  readonly root: HTMLElement;
  readonly #bar = h("div", { className: "msdk-notices" });
  readonly #live = h("div", { className: "msdk-sr", role: "status", aria: { live: "polite" } });
  readonly #ears = new Map<keyof Events, Set<(value: never) => void>>();
  #guard: (() => Promise<boolean>) | undefined;
  #line: HTMLElement | undefined;
  #lost: HTMLElement | undefined;
  #fade: ReturnType<typeof setTimeout> | undefined;
  #seq: number | null = null;
  #pushed = false;
  #waiting = 0;
  #gone = false;

  constructor({ widget, kernel, model, el, signal, load }: Mount) {
    this.kernel = kernel;
    this.model = model;
    this.signal = signal;
    this.load = load;
    this.root = h("div", { className: "msdk-root", data: { widget } }, this.#bar, this.#live);
    // VS Code and JupyterLab listen further up, in the bubble phase.
    this.root.addEventListener("keydown", (event) => event.stopPropagation());
    el.replaceChildren(this.root);
    this.#followTraits();
    this.#watchLife();
  }

  /** The kernel's trait of that name. */
  trait<K extends keyof Traits>(name: K): Traits[K] {
    return this.model.get(name) as Traits[K];
  }

  on<K extends keyof Events>(name: K, fn: (value: Events[K]) => void): void {
    const ears = this.#ears.get(name) ?? new Set();
    this.#ears.set(name, ears.add(fn as (value: never) => void));
  }

  tell<K extends keyof Events>(name: K, ...value: Events[K] extends undefined ? [] : [Events[K]]): void {
    for (const fn of this.#ears.get(name) ?? []) (fn as (value: unknown) => void)(value[0]);
  }

  /** Announces `text` to those who cannot see. */
  say(text: string): void {
    this.#live.textContent = this.#live.textContent === text ? `${text}\u00a0` : text;
  }

  /** Asks the kernel. A refusal is thrown; a kernel that is gone also shows in the banner. */
  async ask<T>(verb: string, args: Record<string, unknown> = {}, patience = 30_000, buffers: ArrayBuffer[] = []): Promise<T> {
    try {
      const answer = await this.kernel.call<T>(verb, args, patience, buffers);
      this.#found();
      return answer;
    } catch (why) {
      const refusal = asRefusal(why);
      if (refusal.code === "dead") this.#lose("Not connected: the kernel of this widget is gone.", true);
      else if (refusal.code === "timeout") this.#lose("Not connected: the kernel has not answered. It may be busy.");
      throw refusal;
    }
  }

  /** Asks the kernel; a refusal is shown in the panel and answered with undefined. */
  async attempt<T>(verb: string, args: Record<string, unknown> = {}, buffers: ArrayBuffer[] = []): Promise<T | undefined> {
    try {
      return await this.ask<T>(verb, args, 30_000, buffers);
    } catch (why) {
      this.complain(why);
      return undefined;
    }
  }

  /** Changes several memories; what was refused is shown. Answers undefined when nothing was tried. */
  async change(verb: string, items: Item[], args: object = {}): Promise<Outcome | undefined> {
    const named = items.map(({ id, version }) => ({ id, version }));
    const outcome = await this.attempt<Outcome>(verb, { items: named, ...args });
    if (!outcome) return undefined;
    if (outcome.refused.length) this.notify({ kind: "error", text: [...new Set(outcome.refused)].join(" ") });
    const gone = verb === "remove" || verb === "shelve";
    this.tell("data", { ids: outcome.done, more: false, gone, versions: outcome.versions ?? {} });
    return outcome;
  }

  /** Shows why something could not be done. */
  complain(why: unknown): void {
    const { code, message, suggestion } = asRefusal(why);
    if (code === "closed" || code === "dead" || code === "timeout") return; // the banner says it
    this.notify({ kind: "error", text: message, suggestion });
  }

  /** Shows one line above the parts, in place of the line before. */
  notify(notice: Notice): void {
    this.quiet();
    this.#line = line(notice, () => this.quiet());
    this.#bar.append(this.#line);
    if (notice.fades) this.#fade = setTimeout(() => this.quiet(), notice.fades);
  }

  /** Takes the line away. */
  quiet(): void {
    clearTimeout(this.#fade);
    this.#line?.remove();
  }

  /** Shows a line of its own, which no other replaces; answers what takes it away. */
  hold(notice: Notice): () => void {
    const held = line(notice, () => held.remove());
    this.#bar.prepend(held);
    return () => held.remove();
  }

  /** `fn` answers whether the open edit may be left; it may ask the person first. */
  guardWith(fn: () => Promise<boolean>): void {
    this.#guard = fn;
  }

  /** True when nothing unsaved stands in the way of leaving. */
  async mayLeave(): Promise<boolean> {
    return this.#guard ? this.#guard() : true;
  }

  /** Looks for changes of others from now on, as long as somebody can see this view. What is read later misses none. */
  watch(): void {
    let seen = true;
    let asking = false;
    let last = 0;
    const observer = new IntersectionObserver((entries) => {
      const now = entries.at(-1)?.isIntersecting ?? true;
      if (now && !seen) last = 0; // much may have happened while nobody looked
      seen = now;
    });
    const shown = () => {
      if (!document.hidden) last = 0;
    };
    document.addEventListener("visibilitychange", shown, { signal: this.signal });
    observer.observe(this.root);
    const look = async () => {
      // One question at a time: a busy kernel must not find a queue of them.
      if (asking || !seen || document.hidden || this.#gone) return;
      if (Date.now() - last < (this.#pushed ? CALL : 0)) return;
      asking = true;
      try {
        await this.look();
      } finally {
        asking = false;
        last = Date.now();
      }
    };
    void look();
    const timer = setInterval(() => void look(), LOOK);
    this.signal.addEventListener("abort", () => {
      clearInterval(timer);
      observer.disconnect();
    });
  }

  /** Asks once what changed, and passes it on. */
  async look(): Promise<void> {
    try {
      const { seq, ids, more, pushed, waiting } = await this.ask<Changes>("changes", { since: this.#seq }, PATIENCE);
      const first = this.#seq === null;
      this.#seq = seq;
      this.#pushed = pushed;
      if (!first && (ids.length || more)) this.tell("data", { ids, more });
      if (waiting !== undefined && waiting !== this.#waiting) {
        this.#waiting = waiting;
        this.tell("waiting", waiting);
      }
    } catch (why) {
      const refusal = asRefusal(why);
      this.#pushed = false;
      if (refusal.code === "access_denied" || refusal.code === "not_found") this.tell("refused", refusal);
    }
  }

  #followTraits(): void {
    const follow = (trait: keyof Traits, then: () => void) => {
      this.model.on(`change:${trait}`, then);
      this.signal.addEventListener("abort", () => this.model.off(`change:${trait}`, then));
    };
    let coming = false;
    const place = () => {
      if (coming) return; // principal and agent change together
      coming = true;
      queueMicrotask(() => {
        coming = false;
        this.#seq = null;
        void this.look(); // first: what is read for the new shelf then misses no change of it
        this.tell("place");
      });
    };
    follow("principal_id", place);
    follow("agent_id", place);
    follow("filter", () => this.tell("filter"));
    follow("grouped", () => this.tell("grouped"));
    follow("selected", () => this.tell("selected", this.trait("selected")));
    follow("dirty", () => this.tell("dirty", this.trait("dirty")));
    follow("revision", () => void this.look());
  }

  #watchLife(): void {
    // The event does not say which way it went, and comes in JupyterLab only: a question tells.
    const hear = () => void this.look();
    const model = this.model as unknown as { on(name: string, fn: () => void): void; off(name: string, fn: () => void): void };
    model.on("comm_live_update", hear);
    this.signal.addEventListener("abort", () => model.off("comm_live_update", hear));
  }

  #lose(text: string, gone = false): void {
    this.#gone ||= gone;
    if (this.#lost || this.signal.aborted) return;
    this.#lost = h(
      "div",
      { className: "msdk-notice msdk-notice-error msdk-lost", role: "alert" },
      icon("alert"),
      h("span", { className: "msdk-notice-text" }, `${text} What you typed is still here. ${gone ? "Run the cell again to go on." : "The panel goes on by itself once it answers."}`),
      h("button", { className: "msdk-link", on: { click: () => void this.look() } }, "Try again"),
    );
    this.root.dataset["lost"] = "true";
    this.#bar.prepend(this.#lost);
  }

  #found(): void {
    this.#gone = false;
    this.#lost?.remove();
    this.#lost = undefined;
    delete this.root.dataset["lost"];
  }
}

function line({ kind, text, suggestion, actions = [] }: Notice, close: () => void): HTMLElement {
  return h(
    "div",
    { className: `msdk-notice msdk-notice-${kind}`, role: kind === "error" ? "alert" : "status" },
    icon(kind === "error" ? "alert" : kind === "done" ? "check" : "info"),
    h("span", { className: "msdk-notice-text" }, [text, suggestion].filter(Boolean).join(" ")),
    ...actions.map(({ text: name, run }) => h("button", { className: "msdk-link", on: { click: () => (close(), run()) } }, name)),
    h("button", { className: "msdk-icon-button", aria: { label: "Dismiss" }, on: { click: close } }, icon("close")),
  );
}

/** Whatever was thrown, as a refusal. */
export function asRefusal(why: unknown): Refusal {
  return why instanceof Error && "code" in why ? (why as Refusal) : new Refusal("internal", "The widget could not do this.", String(why));
}
