import { Asking } from "./asking.ts";
import { Attacher } from "./attach.ts";
import { conflictBox } from "./conflict.ts";
import { Creation } from "./creation.ts";
import { asRefusal, type Desk } from "./desk.ts";
import { command, h, icon } from "./dom.ts";
import { changesOf, type Draft, draftOf } from "./draft.ts";
import { DraftKeeper, typedOf } from "./draft_keeper.ts";
import type { Drawer } from "./drawer.ts";
import { Fields } from "./fields.ts";
import { showHistory } from "./history.ts";
import { ago } from "./labels.ts";
import { Panes } from "./panes.ts";
import { ReplaceRow } from "./replace_row.ts";
import type { Doc, Kept, TypeCount, Typed } from "./wire.ts";

const EMPTY: Draft = { name: "", type: "", summary: "", tags: [], content: "" };

/** One memory as a form: what is open, what was typed, and what becomes of it. */
export class MarkdownEditor {
  readonly el: HTMLElement;
  readonly #desk: Desk;
  readonly #drawer: Drawer;
  readonly #form: HTMLFormElement;
  readonly #empty: HTMLElement;
  readonly #fields: Fields;
  readonly #panes: Panes;
  readonly #replace: ReplaceRow;
  readonly #attacher: Attacher;
  readonly #keeper: DraftKeeper;
  readonly #save = h("button", { type: "submit", className: "msdk-button msdk-primary" }, "Save");
  readonly #pin = h("button", { className: "msdk-icon-button msdk-group", title: "Pin", aria: { label: "Pin", pressed: "false" } }, icon("pin"));
  readonly #history = h("button", { className: "msdk-icon-button msdk-group", title: "History", aria: { label: "History" } }, icon("history"));
  readonly #back = h("button", { className: "msdk-icon-button msdk-back", aria: { label: "Back to the list" }, on: { click: () => this.onLeave?.() } }, icon("back"));
  readonly #delete = h("button", { className: "msdk-button msdk-quiet msdk-danger" }, icon("trash"), "Delete");
  readonly #state = h("span", { className: "msdk-state" });
  readonly #asking = new Asking(() => (this.#met = 0));
  #doc: Doc | undefined;
  #creation: Creation | undefined; // of the new memory that is in the form
  #base: Draft = EMPTY;
  #opening = 0;
  #met = 0; // the version of theirs that a conflict was shown for
  #saving = false;
  #late: Draft | undefined; // what was sent in a save that nobody answered
  #toldDirty = false;
  /** Goes back to the list where both do not fit side by side. */
  onLeave: (() => void) | undefined;
  /** The open memory is gone: somebody else must take the focus. */
  onGone: (() => void) | undefined;

  constructor(desk: Desk, drawer: Drawer) {
    this.#desk = desk;
    this.#drawer = drawer;
    this.#empty = h(
      "div",
      { className: "msdk-empty" },
      h("div", { className: "msdk-empty-icon" }, icon("note")),
      h("p", { className: "msdk-empty-title" }, "Nothing is open"),
      h("p", { className: "msdk-empty-text" }, "Choose a memory to read or edit it."),
    );
    this.#fields = new Fields(desk, () => this.#changed());
    const body = () => this.#fields.body;
    this.#panes = new Panes(desk, this.#fields.host, () => body().get());
    this.#replace = new ReplaceRow(desk, body, () => this.#panes.write());
    this.#attacher = new Attacher(desk, this.#fields.host, body);
    this.#keeper = new DraftKeeper(desk, () => (this.dirty ? typedOf(this.#doc, this.#draft()) : undefined));
    this.#form = this.#build();
    this.el = h("div", { className: "msdk-editor" }, this.#empty, this.#form, drawer.el);
    this.#listen();
    this.#show(false);
    this.#offerUnsaved();
  }

  get dirty(): boolean {
    return (this.#creation !== undefined || this.#doc !== undefined) && Object.keys(changesOf(this.#draft(), this.#base)).length > 0;
  }

  /** In a narrow output, shows the list or what is open. */
  fit(): void {
    this.#desk.root.dataset["open"] = String(!this.#form.hidden || this.#drawer.isOpen);
  }

  /** The types that the form offers. */
  offer(types: TypeCount[]): void {
    this.#fields.offer(types);
  }

  /** Opens an empty form. */
  async create(): Promise<void> {
    if (!(await this.mayLeave())) return;
    await this.#desk.attempt("select", { id: null });
    this.#begin({ ...EMPTY, type: this.#desk.trait("filter") ?? this.#fields.usual });
    this.#changed();
    this.#fields.name.focus();
  }

  /** Opens the memory of that id, or nothing. */
  async open(id: string | null): Promise<void> {
    if (id === (this.#doc?.id ?? null) && !(id === null && this.#creation && !this.dirty)) return;
    if (id === null && this.#creation) return; // a new memory has no id yet
    this.#opening += 1;
    const turn = this.#opening;
    if (id === null) return this.#close();
    try {
      const doc = await this.#desk.ask<Doc>("open", { id });
      if (turn === this.#opening) this.#display(doc);
    } catch (why) {
      if (turn !== this.#opening) return;
      this.#close();
      this.#desk.complain(why);
    }
  }

  /** True when nothing unsaved is lost by leaving; asks when there is. */
  mayLeave(): Promise<boolean> {
    if (!this.dirty) return Promise.resolve(true);
    return new Promise((resolve) => {
      this.#asking.ask(`“${this.#fields.called}” has unsaved changes.`, [
        ["Save them", "msdk-primary", () => void this.save().then(resolve)],
        ["Discard them", "msdk-danger", () => resolve((this.#revert(), true))],
        ["Keep editing", "", () => resolve(false)],
      ]);
    });
  }

  /** Saves the form; true when the store has it. */
  async save(): Promise<boolean> {
    if (this.#saving || !(this.#creation || this.#doc)) return false;
    const draft = this.#draft();
    if (!draft.name) {
      this.#desk.notify({ kind: "error", text: "A memory needs a name." });
      this.#fields.name.focus();
      return false;
    }
    this.#saving = true;
    this.#changed();
    try {
      this.#saved(await this.#write(draft), draft);
      return true;
    } catch (why) {
      if (asRefusal(why).code === "timeout") this.#late = draft;
      if (asRefusal(why).code === "edit_conflict") void this.#meet();
      else this.#desk.complain(why);
      return false;
    } finally {
      this.#saving = false;
      this.#changed();
    }
  }

  async #write(draft: Draft): Promise<Doc> {
    if (this.#creation) {
      const [made, sent] = await this.#creation.make(draft);
      if (sent === draft) return made;
      // An earlier try had come through after all: what was typed since is a change of it.
      this.#standOn(made);
      if (!this.dirty) return made;
    }
    const { id, version } = this.#doc as Doc;
    return this.#desk.ask<Doc>("save", { id, changes: changesOf(draft, this.#base), expected_version: version });
  }

  #saved(doc: Doc, sent: Draft): void {
    this.#standOn(doc);
    this.#fields.settle(doc, sent);
    this.#panes.endMerge();
    this.#desk.quiet();
    this.#desk.say(`${doc.name} saved.`);
    if (this.#desk.trait("selected") !== doc.id) {
      this.#desk.tell("selected", doc.id);
      void this.#desk.attempt("select", { id: doc.id });
    }
    this.#desk.tell("data", { ids: [doc.id], more: false });
  }

  /** Lets the form stand on that state of the memory: what is saved next replaces it. */
  #standOn(doc: Doc): void {
    this.#hush();
    this.#late = undefined;
    this.#creation = undefined;
    this.#doc = doc;
    this.#base = draftOf(doc);
    this.#pin.setAttribute("aria-pressed", String(doc.pinned));
    this.#show(true);
    this.#changed();
  }

  // Two people at once

  /** Somebody else changed the memory under the edit: shows the difference, and lets the person choose. */
  async #meet(): Promise<void> {
    const doc = this.#doc;
    const theirs = doc && (await this.#desk.attempt<Doc>("open", { id: doc.id }));
    if (!theirs || this.#doc !== doc || this.#met === theirs.version) return;
    const mine = this.#draft();
    // Both wrote the same, or a save of ours was carried out after the page had given up waiting.
    if ([mine, this.#late].some((each) => each && !Object.keys(changesOf(each, draftOf(theirs))).length)) return this.#standOn(theirs);
    this.#met = theirs.version;
    const box = await conflictBox(this.#desk, theirs, { ...mine, summary: mine.summary || (theirs.derived ? theirs.summary : "") }, {
      takeTheirs: () => this.#display(theirs),
      keepMine: () => {
        this.#standOn(theirs);
        void this.save();
      },
      merge: () => this.#merge(theirs),
    });
    if (this.#doc !== doc) return;
    this.#asking.show(box);
    this.#desk.say(box.querySelector(".msdk-ask-text")?.textContent ?? "");
  }

  /** Their text beside the edit, until the next save. */
  #merge(theirs: Doc): void {
    this.#standOn(theirs);
    this.#panes.merge(theirs.content);
    this.#desk.notify({ kind: "info", text: "Their text is beside yours. Bring both together in yours, then save." });
    this.#fields.body.focus();
  }

  /** Others changed something: an open memory without edits follows. */
  async #news(ids: string[], more: boolean): Promise<void> {
    const doc = this.#doc;
    if (!doc || this.#saving || !(more || ids.includes(doc.id))) return;
    try {
      const now = await this.#desk.ask<Doc>("open", { id: doc.id });
      if (this.#doc !== doc || now.version === doc.version || this.#saving) return;
      if (this.dirty) void this.#meet();
      else this.#display(now);
    } catch (why) {
      if (this.#doc === doc && asRefusal(why).code === "not_found") this.#lostTo(doc);
    }
  }

  /** The open memory was deleted elsewhere. What was typed becomes a new memory, should the person save it. */
  #lostTo(doc: Doc): void {
    const undo = { text: "Undo", run: () => void this.#undelete(doc) };
    if (!this.dirty) {
      this.#close();
      this.#desk.notify({ kind: "info", text: `“${doc.name}” was deleted elsewhere.`, actions: [undo] });
      return;
    }
    this.#anew();
    this.#desk.notify({ kind: "info", text: `“${doc.name}” was deleted elsewhere. What you typed is still here: Save makes it anew.` });
  }

  /** The open memory went with others, by this view: who took them away tells of it, and offers the way back. */
  #takenAway(): void {
    if (this.dirty) return this.#anew();
    this.#close();
    void this.#desk.attempt("select", { id: null });
  }

  /** Another shelf is open now, perhaps by somebody else's choice: nothing that was typed goes with the old one. */
  #moved(): void {
    this.#drawer.close();
    this.#keeper.leave();
    this.#offerUnsaved();
    if (!this.dirty) return this.#close();
    const name = this.#fields.called;
    this.#hush();
    this.#anew();
    this.#desk.notify({
      kind: "info",
      text: `Another shelf was opened while “${name}” had unsaved changes. Save keeps them here as a new memory.`,
      actions: [{ text: "Discard", run: () => this.#close() }],
    });
  }

  // Deleting and pinning

  async #remove(): Promise<void> {
    const doc = this.#doc;
    if (!doc) return;
    const gone = await this.#desk.attempt("delete", { id: doc.id, expected_version: doc.version });
    if (gone === undefined) return;
    this.#close();
    this.onGone?.();
    void this.#desk.attempt("select", { id: null });
    this.#desk.tell("data", { ids: [doc.id], more: false });
    this.#desk.say(`${doc.name} deleted.`);
    this.#desk.notify({
      kind: "done",
      text: `“${doc.name}” is deleted.`,
      actions: [{ text: "Undo", run: () => void this.#undelete(doc) }],
    });
  }

  async #undelete({ id, name }: Doc): Promise<void> {
    if (!(await this.#desk.attempt("restore", { id }))) return;
    this.#desk.tell("data", { ids: [id], more: false });
    this.#desk.say(`${name} is back.`);
    if (!(await this.mayLeave())) return;
    void this.#desk.attempt("select", { id });
    await this.open(id);
  }

  /** Pins at once: it is no part of the text, so it does not wait for a save. */
  async #togglePin(): Promise<void> {
    const doc = this.#doc;
    if (!doc) return;
    const changes = { pinned: !doc.pinned };
    const now = await this.#desk.attempt<Doc>("save", { id: doc.id, changes, expected_version: doc.version });
    if (!now || this.#doc !== doc) return;
    this.#doc = now; // what is being typed stays, and stands on the new version
    this.#pin.setAttribute("aria-pressed", String(now.pinned));
    this.#desk.tell("data", { ids: [now.id], more: false });
    this.#changed();
  }

  // What was not saved

  #offerUnsaved(): void {
    void this.#keeper.offer((kept) => void this.#restore(kept));
  }

  /** Puts a draft back into the form, on the version that it was written on. */
  async #restore({ key }: Kept): Promise<void> {
    if (!(await this.mayLeave())) return this.#offerUnsaved();
    const typed = await this.#desk.attempt<Typed>("draft", { key });
    if (!typed) return;
    const doc = typed.memory_id === null ? undefined : await this.#desk.ask<Doc>("open", { id: typed.memory_id }).catch(() => undefined);
    this.#opening += 1;
    if (doc) this.#display(doc);
    else this.#begin({ ...EMPTY, type: typed.fields.type });
    this.#desk.tell("selected", doc?.id ?? null);
    void this.#desk.attempt("select", { id: doc?.id ?? null });
    const stale = doc && typed.version !== null && typed.version < doc.version ? typed.version : undefined;
    if (doc && stale) {
      this.#doc = { ...doc, version: stale };
      const past = await this.#desk.ask<Draft>("past", { id: doc.id, version: stale }).catch(() => this.#base);
      this.#base = { ...past, summary: doc.derived ? "" : past.summary };
    }
    this.#fields.put(typed.fields);
    this.#keeper.adopt(key);
    this.#changed();
    this.#fields.body.focus();
    if (stale) void this.#meet();
    this.#offerUnsaved();
  }

  // The form

  #build(): HTMLFormElement {
    const { name, kind, lines, size } = this.#fields;
    const tools = [this.#panes.previewButton, this.#panes.splitButton, this.#attacher.button, this.#replace.button, this.#attacher.input];
    return h(
      "form",
      { className: "msdk-form", noValidate: true, autocomplete: "off", aria: { label: "Memory editor" } },
      h("div", { className: "msdk-form-top" }, this.#back, name, this.#pin, this.#history, kind),
      lines,
      h("div", { className: "msdk-bar" }, h("div", { className: "msdk-toggles" }, ...tools), size),
      this.#replace.el,
      this.#panes.el,
      this.#asking.el,
      h("div", { className: "msdk-form-foot" }, this.#delete, this.#state, this.#save),
    );
  }

  #listen(): void {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.save();
    });
    this.#form.addEventListener("input", () => this.#changed());
    this.#history.addEventListener("click", () => {
      const doc = this.#doc;
      if (doc) void showHistory(this.#desk, this.#drawer, doc, (now) => this.#doc === doc && !this.dirty && this.#display(now));
    });
    this.#pin.addEventListener("click", () => void this.#togglePin());
    this.#delete.addEventListener("click", () => {
      this.#asking.ask(`Delete “${this.#doc?.name ?? ""}”? You can undo it.`, [
        ["Yes, delete", "msdk-danger", () => void this.#remove()],
        ["Keep it", "", () => undefined],
      ]);
    });
    this.#desk.root.addEventListener("keydown", (event) => {
      if (!command(event) || event.key.toLowerCase() !== "s") return;
      event.preventDefault(); // or the browser offers to save the page
      if (this.dirty) void this.save();
    });
    const warn = (event: BeforeUnloadEvent) => this.dirty && event.preventDefault();
    window.addEventListener("beforeunload", warn, { signal: this.#desk.signal });
    this.#desk.on("selected", (id) => void this.#selected(id));
    this.#desk.on("place", () => this.#moved());
    this.#desk.on("data", ({ ids, more, gone }) => {
      if (gone && this.#doc && ids.includes(this.#doc.id)) this.#takenAway();
      else void this.#news(ids, more);
    });
  }

  async #selected(id: string | null): Promise<void> {
    if (id !== (this.#doc?.id ?? null) && this.dirty && !(await this.mayLeave())) return;
    await this.open(id);
  }

  #draft(): Draft {
    return this.#fields.read(this.#base);
  }

  /** An empty form for a memory that is not there yet. */
  #begin(draft: Draft): void {
    this.#opening += 1;
    this.#doc = undefined;
    this.#creation = new Creation(this.#desk);
    this.#fill(draft);
    this.#show(true);
  }

  /** What is in the form stands on no memory any more. */
  #anew(): void {
    this.#opening += 1;
    this.#doc = undefined;
    this.#creation = new Creation(this.#desk);
    this.#base = { ...EMPTY, type: this.#base.type };
    this.#show(true);
    this.#changed();
  }

  #display(doc: Doc): void {
    const same = this.#doc?.id === doc.id;
    this.#fill(draftOf(doc), same);
    this.#fields.tell(doc);
    this.#standOn(doc);
    // In a narrow output the list, which had the focus, has just been hidden.
    if (document.activeElement === document.body) this.#back.focus();
    this.#panes.endMerge();
    this.#panes.refresh();
  }

  #fill(draft: Draft, keepCursor = false): void {
    this.#base = draft;
    this.#fields.put(draft, keepCursor);
    this.#hush();
  }

  #revert(): void {
    if (this.#creation) return this.#close();
    this.#fill(this.#base);
    this.#fields.tell(this.#doc);
    this.#changed();
  }

  #close(): void {
    this.#opening += 1;
    this.#doc = undefined;
    this.#creation = undefined;
    this.#hush();
    this.#show(false);
    this.#changed();
  }

  #show(on: boolean): void {
    this.#form.hidden = !on;
    this.#empty.hidden = on;
    for (const one of [this.#delete, this.#pin, this.#history]) one.hidden = this.#creation !== undefined;
    this.fit();
  }

  #changed(): void {
    const dirty = this.dirty;
    this.#save.disabled = this.#saving || !dirty;
    this.#state.dataset["state"] = this.#saving ? "saving" : dirty ? "dirty" : "clean";
    this.#state.textContent = this.#saving ? "Saving…" : dirty ? "Unsaved changes" : this.#doc ? `Saved ${ago(this.#doc.updated)}` : "";
    this.#fields.measure();
    this.#panes.changed();
    this.#keeper.changed(dirty);
    if (dirty === this.#toldDirty) return;
    this.#toldDirty = dirty;
    void this.#desk.kernel.call("note", { dirty }).catch(() => undefined);
  }

  #hush(): void {
    this.#asking.hush();
  }
}
