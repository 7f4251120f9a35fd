import { blank } from "./blank.ts";
import { asRefusal, type Desk } from "./desk.ts";
import { command, h, shield, uid } from "./dom.ts";
import { drag } from "./drag.ts";
import type { Refusal } from "./kernel.ts";
import { takeFolders } from "./folder_drop.ts";
import { count } from "./labels.ts";
import { BulkBar } from "./bulk_bar.ts";
import { RowNodes, type Stand } from "./row_nodes.ts";
import { isHeading, neighbour, Rows, shifted } from "./rows.ts";
import type { Item, Row, Window } from "./wire.ts";

/** Height of a row in px; the style sheet draws to the same measure. */
const ROW = 58;
/** Rows asked for at once, and rows drawn beyond both ends of what can be seen. */
const PAGE = 100;
const SPARE = 6;
/** What the view is taken to show until the browser has measured it, in px. */
const UNMEASURED = 480;
/** ms of rest after which a row moved by key is sent. */
const REST = 350;

interface Carried {
  id: string;
  from: number;
  to: number;
  top?: number;
}

/** The memories of the shelf, in their order: windowed, moved by mouse, touch or key. */
export class MemoryList {
  readonly el: HTMLElement;
  readonly #desk: Desk;
  readonly #nodes = new RowNodes();
  readonly #view: HTMLElement;
  readonly #blank = h("div", { className: "msdk-empty", hidden: true });
  #rows = new Rows();
  // As the browser last told: to ask it while drawing would make it lay out the whole page each time.
  #top = 0;
  #height = UNMEASURED;
  #all = 0;
  #ranked = false;
  #loaded = false;
  #refusal: Refusal | undefined;
  #turn = 0; // answers to questions of an earlier turn are stale
  #asking = new Set<number>();
  #active = 0;
  #anchor = 0;
  #marked = new Map<string, number>();
  readonly #bulk: BulkBar;
  #dragged: Carried | undefined;
  #carried: Carried | undefined; // by key, not sent yet
  #held = false; // the carried row was picked up with m, so plain arrows move it
  #last: Carried | undefined; // the last move by key, for Escape
  #rest: ReturnType<typeof setTimeout> | undefined;
  #missed = false;
  readonly #create: (() => void) | undefined;

  constructor(desk: Desk, create?: () => void) {
    this.#desk = desk;
    this.#create = create;
    const help = h("p", { className: "msdk-sr", id: uid("help") });
    help.textContent =
      "Arrows go through the memories, Enter opens one, Space selects, P pins. Alt with an arrow moves it; " +
      "or M picks it up, arrows carry it, Enter drops it. Escape puts it back.";
    this.#view = shield(
      h(
        "div",
        { className: "msdk-listbox", role: "listbox", tabIndex: 0, aria: { label: "Memories", multiselectable: "true", describedby: help.id } },
        this.#nodes.el,
      ),
    );
    this.#bulk = new BulkBar(desk, () => this.#mark([]));
    this.el = h("div", { className: "msdk-list" }, this.#view, this.#blank, this.#bulk.el, help);
    this.#listen();
    takeFolders(desk, this.el);
    desk.on("place", () => this.#reset());
    desk.on("filter", () => this.#reset());
    desk.on("grouped", () => this.#reset());
    desk.on("query", () => this.#reset());
    desk.on("data", ({ versions }) => {
      if (versions) this.#catchUp(versions);
      void this.refresh();
    });
    desk.on("refused", (why) => this.#refuse(why));
    desk.on("selected", (id) => this.#follow(id));
  }

  /** Reads the visible part again; keeps the focus, the place and the row at the top of the view. */
  async refresh(): Promise<void> {
    if (this.#dragged || this.#carried) {
      this.#missed = true; // a row in the hand must not be pulled away
      return;
    }
    this.#turn += 1;
    this.#asking.clear();
    const turn = this.#turn;
    const top = Math.floor(this.#top / ROW);
    const offset = Math.max(0, Math.floor((top - PAGE / 2) / (PAGE / 2)) * (PAGE / 2));
    try {
      let window = await this.#desk.ask<Window>("rows", { offset, limit: 2 * PAGE });
      if (offset && !window.rows.length) window = await this.#desk.ask<Window>("rows", { offset: 0, limit: 2 * PAGE });
      if (turn === this.#turn) this.#take(window, top);
    } catch (why) {
      const refusal = asRefusal(why);
      if (turn === this.#turn && !["closed", "dead", "timeout"].includes(refusal.code)) this.#refuse(refusal);
    }
  }

  /** Puts the focus on the list. */
  focus(): void {
    this.#view.focus();
  }

  #reset(): void {
    this.#settle();
    this.#rows = new Rows();
    this.#loaded = false;
    this.#refusal = undefined;
    this.#active = 0;
    this.#mark([]);
    this.#scroll(0);
    this.#draw();
    void this.refresh();
  }

  #take(window: Window, top: number): void {
    const anchor = this.#rows.at(top)?.id;
    const active = this.#rows.at(this.#active)?.id;
    this.#rows = new Rows(window);
    this.#rows.fill(window);
    this.#all = window.all;
    this.#ranked = window.ranked;
    this.el.classList.toggle("msdk-ranked", window.ranked);
    this.#loaded = true;
    this.#refusal = undefined;
    const now = active ? this.#rows.indexOf(active) : -1;
    this.#active = now >= 0 ? now : this.#rows.memory(this.#active, 1);
    const at = anchor && top > 0 ? this.#rows.indexOf(anchor) : -1;
    this.#nodes.el.style.height = `${window.length * ROW}px`;
    if (at >= 0 && at !== top) this.#scroll(this.#top + (at - top) * ROW);
    this.#refreshMarks(); // and draws
  }

  #refuse(why: Refusal): void {
    this.#refusal = why;
    this.#rows = new Rows();
    this.#loaded = true;
    this.#draw();
  }

  // Drawing

  #draw(): void {
    const { length } = this.#rows;
    const top = Math.min(this.#top, Math.max(0, length * ROW - this.#height)); // a list that shrinks pulls the view up
    const first = Math.max(0, Math.floor(top / ROW) - SPARE);
    const last = Math.min(length, Math.ceil((top + this.#height) / ROW) + SPARE);
    this.#nodes.el.style.height = `${length * ROW}px`;
    const wanted = new Set<number>();
    for (let i = first; i < last; i += 1) wanted.add(i);
    if (length) wanted.add(Math.min(this.#active, length - 1)); // the focused row exists however far one scrolls
    if (this.#dragged) wanted.add(this.#dragged.from);
    const shown = [...wanted].sort((a, b) => a - b);
    this.#nodes.draw(shown.map((index) => ({ index, line: this.#rows.line(index), stand: this.#stand(index) })));
    const active = this.#rows.at(this.#active);
    if (active) this.#view.setAttribute("aria-activedescendant", this.#nodes.id(active.id));
    else this.#view.removeAttribute("aria-activedescendant");
    this.#drawBlank();
    const gap = this.#rows.gap(first, last);
    if (gap >= 0) void this.#fetch(Math.floor(gap / PAGE) * PAGE);
  }

  #stand(index: number): Stand {
    const id = this.#rows.at(index)?.id;
    const hand = this.#dragged;
    const lifted = hand?.from === index;
    const shown = hand ? shifted(index, hand.from, hand.to) : index;
    return {
      top: lifted ? (hand.top ?? 0) : shown * ROW,
      lifted,
      carried: this.#held && id !== undefined && this.#carried?.id === id,
      active: index === this.#active,
      marked: id !== undefined && this.#marked.has(id),
      open: id !== undefined && this.#desk.trait("selected") === id,
      place: this.#rows.place(index),
      total: this.#rows.total,
    };
  }

  #drawBlank(): void {
    const empty = this.#loaded && this.#rows.length === 0;
    this.#blank.hidden = !empty;
    this.#view.classList.toggle("msdk-none", empty);
    if (!empty) return;
    if (this.#refusal) this.#blank.setAttribute("role", "alert");
    else this.#blank.removeAttribute("role");
    const why = { refusal: this.#refusal, all: this.#all, again: () => this.#reset(), create: this.#create };
    this.#blank.replaceChildren(...blank(this.#desk, why));
  }

  async #fetch(offset: number): Promise<void> {
    if (this.#asking.has(offset)) return;
    this.#asking.add(offset);
    const turn = this.#turn;
    const window = await this.#desk.attempt<Window>("rows", { offset, limit: PAGE });
    if (turn !== this.#turn) return;
    this.#asking.delete(offset);
    if (!window) return;
    if (window.length !== this.#rows.length) void this.refresh();
    else {
      this.#rows.fill(window);
      this.#draw();
    }
  }

  // Focus and selection

  #go(index: number, step = 1): void {
    if (!this.#rows.length) return;
    this.#active = this.#rows.memory(index, step);
    const top = this.#active * ROW;
    const above = this.#rows.line(this.#active - 1);
    if (top < this.#top) this.#scroll(top - (isHeading(above) ? ROW : 0));
    else if (top + ROW > this.#top + this.#height) this.#scroll(top + ROW - this.#height);
    this.#draw();
  }

  #scroll(top: number): void {
    this.#view.scrollTop = top;
    this.#top = Math.max(0, top);
  }

  #mark(items: Iterable<Item>): void {
    this.#marked = new Map([...items].map(({ id, version }) => [id, version]));
    this.#showMarks();
  }

  /** What this view has just changed may be changed again before the list is read anew. */
  #catchUp(versions: Record<string, number>): void {
    for (const [id, version] of Object.entries(versions)) {
      const row = this.#rows.at(this.#rows.indexOf(id));
      if (row) row.version = version;
    }
    this.#refreshMarks();
  }

  /** The marks of rows that are on the page follow their versions. */
  #refreshMarks(): void {
    for (const id of this.#marked.keys()) {
      const row = this.#rows.at(this.#rows.indexOf(id));
      if (row) this.#marked.set(id, row.version);
    }
    this.#showMarks();
  }

  #showMarks(): void {
    const many = this.#marked.size > 1;
    this.el.classList.toggle("msdk-many", many);
    this.#bulk.show(many ? [...this.#marked].map(([id, version]) => ({ id, version })) : []);
    this.#draw();
  }

  #toggle(index: number): void {
    const row = this.#rows.at(index);
    if (!row) return;
    if (!this.#marked.delete(row.id)) this.#marked.set(row.id, row.version);
    this.#anchor = index;
    this.#showMarks();
  }

  #range(to: number): void {
    const rows: Row[] = [];
    for (let i = Math.min(this.#anchor, to); i <= Math.max(this.#anchor, to); i += 1) {
      const row = this.#rows.at(i);
      if (row) rows.push(row);
    }
    this.#mark(rows);
  }

  async #pin(index: number): Promise<void> {
    const row = this.#rows.at(index);
    if (!row) return;
    const done = await this.#desk.change("pin", [row], { pinned: !row.pinned });
    if (done) this.#desk.say(`${row.name} ${row.pinned ? "is pinned no more" : "pinned"}.`);
  }

  async #open(index: number): Promise<void> {
    const row = this.#rows.at(index);
    if (!row) return;
    this.#go(index);
    this.#anchor = index;
    if (!(await this.#desk.mayLeave())) return;
    this.#mark([row]);
    this.#desk.tell("selected", row.id); // at once; the kernel's trait comes after
    await this.#desk.attempt("select", { id: row.id });
    this.#draw();
  }

  #follow(id: string | null): void {
    const index = id ? this.#rows.indexOf(id) : -1;
    const row = this.#rows.at(index);
    if (row) this.#mark([row]);
    else if (this.#marked.size === 1) this.#mark([]);
    if (index >= 0 && index !== this.#active && !this.#dragged && !this.#carried) this.#active = index;
    this.#draw();
  }

  // Moving

  #listen(): void {
    const view = this.#view;
    const look = () => {
      this.#top = view.scrollTop;
      this.#height = view.clientHeight || UNMEASURED; // nothing is measured while it is hidden
      this.#draw();
    };
    view.addEventListener("scroll", look, { passive: true });
    view.addEventListener("keydown", (event) => this.#key(event));
    view.addEventListener("blur", () => this.#settle());
    view.addEventListener("click", (event) => this.#click(event));
    view.addEventListener("pointerdown", (event) => this.#press(event));
    const size = new ResizeObserver(look); // called after a layout, so asking costs none
    size.observe(view);
    this.#desk.signal.addEventListener("abort", () => size.disconnect());
  }

  #indexOf(target: EventTarget | null): number {
    const id = (target as Element | null)?.closest<HTMLElement>("[data-id]")?.dataset["id"];
    return id ? this.#rows.indexOf(id) : -1;
  }

  #click(event: MouseEvent): void {
    const index = this.#indexOf(event.target);
    if (index < 0) return;
    if ((event.target as Element).closest(".msdk-tick") || event.ctrlKey || event.metaKey) {
      this.#go(index);
      this.#toggle(index);
    } else if (event.shiftKey) this.#range(index);
    else void this.#open(index);
  }

  #press(event: PointerEvent): void {
    const index = this.#indexOf(event.target);
    const grip = (event.target as Element).closest(".msdk-grip");
    if (this.#ranked || index < 0 || event.button !== 0 || (event.pointerType !== "mouse" && !grip)) return;
    this.#settle();
    const id = this.#rows.at(index)?.id ?? "";
    drag(
      {
        view: this.#view,
        row: ROW,
        bounds: (from) => this.#rows.bounds(from),
        hover: (from, to, top) => {
          this.#dragged = { id, from, to, top };
          this.#nodes.el.classList.add("msdk-dragging");
          this.#draw();
        },
        drop: (from, to) => {
          this.#dragged = undefined;
          this.#nodes.el.classList.remove("msdk-dragging");
          if (to === undefined || to === from) return this.#freed();
          this.#rows.move(from, to);
          this.#active = to;
          void this.#send({ id, from, to });
        },
      },
      event,
      index,
    );
  }

  #key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    const page = Math.max(1, Math.floor(this.#height / ROW) - 1);
    const jump = { Home: -this.#rows.length, End: this.#rows.length, PageDown: page, PageUp: -page }[event.key] ?? 0;
    if (this.#ranked && ((step && event.altKey) || (event.key === "m" && !command(event)))) {
      this.#desk.say("The best match stands first. Empty the search to move memories.");
    } else if (step && (event.altKey || this.#held)) this.#carry(step);
    else if (jump && this.#held) this.#carry(jump);
    else if (event.key === "Escape") this.#escape();
    else if (this.#held && ["Enter", " ", "m"].includes(event.key)) this.#settle();
    else if (step && event.shiftKey) {
      this.#go(this.#active + step, step);
      this.#range(this.#active);
    } else if (step || jump) this.#walk(step || jump);
    else if (event.key === "Enter") void this.#open(this.#active);
    else if (event.key === " ") this.#toggle(this.#active);
    else if (event.key === "m" && !command(event)) this.#lift();
    else if (event.key === "p" && !command(event)) void this.#pin(this.#active);
    else if (event.key === "a" && command(event)) void this.#markAll();
    else return;
    event.preventDefault();
  }

  #walk(by: number): void {
    this.#settle();
    this.#last = undefined;
    this.#go(this.#active + by, by);
    this.#anchor = this.#active;
  }

  async #markAll(): Promise<void> {
    const items = await this.#desk.attempt<Item[]>("ids");
    if (!items) return;
    this.#mark(items);
    this.#desk.say(`${count(items.length)} selected.`);
  }

  #lift(): void {
    const row = this.#rows.at(this.#active);
    if (!row) return;
    this.#last = undefined; // Escape puts it back to where it is picked up
    this.#held = true;
    this.#carried = { id: row.id, from: this.#active, to: this.#active };
    this.#draw();
    this.#desk.say(`${row.name} picked up, ${this.#spot(this.#active)}.`);
  }

  /** Moves the active row here; the kernel hears of it once the keys rest. */
  #carry(by: number): void {
    const row = this.#rows.at(this.#active);
    if (!row) return;
    const carried = (this.#carried ??= { id: row.id, from: this.#active, to: this.#active });
    const [first, last] = this.#rows.bounds(carried.to);
    const to = Math.max(first, Math.min(last, carried.to + by));
    if (to !== carried.to) {
      this.#rows.move(carried.to, to);
      carried.to = to;
      this.#go(to);
    }
    this.#desk.say(`${row.name}, ${this.#spot(to)}.`);
    clearTimeout(this.#rest);
    if (!this.#held) this.#rest = setTimeout(() => this.#settle(), REST);
  }

  /** Sends what was carried by key. */
  #settle(): void {
    clearTimeout(this.#rest);
    const carried = this.#carried;
    const held = this.#held;
    this.#carried = undefined;
    this.#held = false;
    if (!carried) return;
    const name = this.#rows.at(carried.to)?.name ?? "";
    if (held) this.#desk.say(`${name} dropped at ${this.#spot(carried.to)}.`);
    if (carried.from === carried.to) return this.#freed();
    this.#last = this.#last?.id === carried.id ? { ...carried, from: this.#last.from } : carried;
    void this.#send(carried);
  }

  /** Puts back what was carried or, when it is already sent, moves it back. */
  #escape(): void {
    clearTimeout(this.#rest);
    const carried = this.#carried;
    const back = carried ?? this.#last;
    this.#carried = undefined;
    this.#held = false;
    if (!back) return;
    const origin = carried && this.#last?.id === carried.id ? this.#last : back;
    this.#last = undefined;
    const at = this.#rows.indexOf(back.id);
    if (at < 0) return;
    this.#rows.move(at, origin.from);
    this.#go(origin.from);
    this.#desk.say(`${this.#rows.at(origin.from)?.name ?? ""} put back to ${this.#spot(origin.from)}.`);
    if (back === carried && origin === carried) this.#freed();
    else void this.#send({ id: back.id, from: at, to: origin.from });
  }

  #spot(index: number): string {
    return `position ${this.#rows.place(index)} of ${this.#rows.total}`;
  }

  async #send(move: Carried): Promise<void> {
    this.#turn += 1; // windows asked for before the move show the old order
    this.#asking.clear();
    this.#draw();
    const next = neighbour(this.#rows, move.from, move.to);
    const name = this.#rows.at(move.to)?.name ?? "";
    try {
      if (!next) throw new Error("The rows around it are not loaded yet.");
      await this.#desk.ask("move", { id: move.id, ...next });
      this.#desk.say(`${name} moved to ${this.#spot(move.to)}.`);
    } catch (why) {
      const at = this.#rows.indexOf(move.id);
      if (at >= 0) this.#rows.move(at, move.from);
      this.#active = move.from;
      this.#last = undefined;
      this.#draw();
      this.#desk.complain(why);
      this.#desk.say(`${name} slid back to ${this.#spot(move.from)}.`);
      this.#missed = true;
    }
    this.#freed();
  }

  /** The hand is empty again: draws, and reads what was missed meanwhile. */
  #freed(): void {
    this.#draw();
    if (!this.#missed || this.#dragged || this.#carried) return;
    this.#missed = false;
    void this.refresh();
  }
}
