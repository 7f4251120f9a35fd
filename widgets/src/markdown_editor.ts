import { Asking } from "./asking.ts";
import { Attacher } from "./attach.ts";
import { asRefusal, type Desk } from "./desk.ts";
import { changesOf, characters, type Draft, draftOf, parsedTags, sameTags } from "./draft.ts";
import { DraftKeeper, typedOf } from "./draft_keeper.ts";
import { command, h, icon, shield } from "./dom.ts";
import { type Field, plainField } from "./field.ts";
import type * as CodeMirror from "./codemirror.ts";
import { ago, mark, titled } from "./labels.ts";
import { conflictBox } from "./conflict.ts";
import type { Drawer } from "./drawer.ts";
import { showHistory } from "./history.ts";
import { Preview } from "./preview.ts";
import { ReplaceRow } from "./replace_row.ts";
import type { Doc, Kept, Rendered, TypeCount, Typed } from "./wire.ts";

type View = "write" | "preview" | "split" | "merge";

/** What an empty summary says. */
const DERIVES = "made from the body";

/** ms without a key before the preview beside the text is drawn again. */
const STILL = 400;

/** One memory as a form: name, type, summary, tags and body. */
export class MarkdownEditor {
  readonly el: HTMLElement;
  readonly #desk: Desk;
  readonly #drawer: Drawer;
  readonly #form: HTMLFormElement;
  readonly #empty: HTMLElement;
  readonly #name = h("input", { type: "text", dir: "auto", className: "msdk-input msdk-title", maxLength: 400, placeholder: "Name", autocomplete: "off", aria: { label: "Name" } });
  readonly #type = h("select", { className: "msdk-input msdk-select", aria: { label: "Type" } });
  readonly #kind = h("span", { className: "msdk-kind" }, this.#type, icon("down"));
  readonly #summary = h("input", { type: "text", dir: "auto", className: "msdk-input", autocomplete: "off", aria: { label: "Summary" } });
  readonly #tags = h("input", { type: "text", dir: "auto", className: "msdk-input", autocomplete: "off", placeholder: "none", aria: { label: "Tags" } });
  readonly #host = h("div", { className: "msdk-body" });
  readonly #preview: Preview;
  readonly #theirs = shield(h("pre", { className: "msdk-theirs", tabIndex: 0, dir: "auto", role: "region", aria: { label: "Their version" } }));
  readonly #panes: HTMLElement;
  readonly #save = h("button", { type: "submit", className: "msdk-button msdk-primary" }, "Save");
  readonly #previewButton = toggle("eye", "Preview");
  readonly #splitButton = toggle("columns", "Side by side");
  readonly #replaceButton = toggle("replace", "Find and replace");
  readonly #replace: ReplaceRow;
  readonly #attacher: Attacher;
  readonly #keeper: DraftKeeper;
  readonly #pin = h("button", { className: "msdk-icon-button msdk-group", title: "Pin", aria: { label: "Pin", pressed: "false" } }, icon("pin"));
  readonly #historyButton = h("button", { className: "msdk-icon-button msdk-group", title: "History", aria: { label: "History" } }, icon("history"));
  readonly #back = h("button", { className: "msdk-icon-button msdk-back", aria: { label: "Back to the list" }, on: { click: () => this.onLeave?.() } }, icon("back"));
  readonly #delete = h("button", { className: "msdk-button msdk-quiet msdk-danger" }, icon("trash"), "Delete");
  readonly #state = h("span", { className: "msdk-state" });
  readonly #size = h("span", { className: "msdk-size" });
  readonly #asking = new Asking(() => (this.#met = 0));
  #field: Field;
  #doc: Doc | undefined;
  #making = false;
  #base: Draft = { name: "", type: "context", summary: "", tags: [], content: "" };
  #types: TypeCount[] = [];
  #opening = 0;
  #met = 0; // the version of theirs that a conflict was shown for
  #saving = false;
  #late: Draft | undefined; // what was sent in a save that nobody answered
  #toldDirty = false;
  #still: ReturnType<typeof setTimeout> | undefined;
  #unoffer: (() => void) | undefined;
  /** Goes back to the list where both do not fit side by side. */
  onLeave: (() => void) | undefined;
  /** The open memory is gone: somebody else must take the focus. */
  onGone: (() => void) | undefined;

  constructor(desk: Desk, drawer: Drawer) {
    this.#desk = desk;
    this.#drawer = drawer;
    this.#splitButton.classList.add("msdk-side");
    this.#field = plainField(this.#host, "Body", () => this.#changed());
    this.#empty = h(
      "div",
      { className: "msdk-empty" },
      h("div", { className: "msdk-empty-icon" }, icon("note")),
      h("p", { className: "msdk-empty-title" }, "Nothing is open"),
      h("p", { className: "msdk-empty-text" }, "Choose a memory to read or edit it."),
    );
    this.#preview = new Preview(desk);
    this.#panes = h("div", { className: "msdk-panes", data: { view: "write" } }, this.#host, this.#preview.el, this.#theirs);
    this.#replace = new ReplaceRow(desk, () => this.#field);
    this.#attacher = new Attacher(desk, this.#host, () => this.#field);
    this.#keeper = new DraftKeeper(desk, () => (this.dirty ? typedOf(this.#doc, this.#draft()) : undefined));
    this.#form = this.#build();
    this.el = h("div", { className: "msdk-editor" }, this.#empty, this.#form, drawer.el);
    this.#listen();
    this.#show(false);
    void this.#upgrade();
    void this.#offerUnsaved();
  }

  get dirty(): boolean {
    return (this.#making || this.#doc !== undefined) && Object.keys(changesOf(this.#draft(), this.#base)).length > 0;
  }

  /** In a narrow output, shows the list or what is open. */
  fit(): void {
    this.#desk.root.dataset["open"] = String(!this.#form.hidden || this.#drawer.isOpen);
  }

  /** The types that the form offers. */
  offer(types: TypeCount[]): void {
    this.#types = types;
    const chosen = this.#type.value;
    this.#type.replaceChildren(...types.map(({ name }) => h("option", { value: name }, titled(name))));
    this.#choose(chosen || this.#base.type);
    this.#measure();
  }

  /** Opens an empty form. */
  async create(): Promise<void> {
    if (!(await this.mayLeave())) return;
    await this.#desk.attempt("select", { id: null });
    this.#opening += 1;
    this.#doc = undefined;
    this.#making = true;
    const usual = this.#types.find(({ name }) => name === "context") ?? this.#types[0];
    this.#fill({ name: "", type: this.#desk.trait("filter") ?? usual?.name ?? "context", summary: "", tags: [], content: "" });
    this.#show(true);
    this.#changed();
    this.#name.focus();
  }

  /** Opens the memory of that id, or nothing. */
  async open(id: string | null): Promise<void> {
    if (id === (this.#doc?.id ?? null) && !(id === null && this.#making && !this.dirty)) return;
    if (id === null && this.#making) return; // a new memory has no id yet
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
    const name = this.#name.value.trim() || "the new memory";
    return new Promise((resolve) => {
      this.#asking.ask(`“${name}” has unsaved changes.`, [
        ["Save them", "msdk-primary", () => void this.save().then(resolve)],
        ["Discard them", "msdk-danger", () => resolve((this.#revert(), true))],
        ["Keep editing", "", () => resolve(false)],
      ]);
    });
  }

  /** Saves the form; true when the store has it. */
  async save(): Promise<boolean> {
    if (this.#saving || !(this.#making || this.#doc)) return false;
    if (!this.#name.value.trim()) {
      this.#desk.notify({ kind: "error", text: "A memory needs a name." });
      this.#name.focus();
      return false;
    }
    this.#saving = true;
    this.#changed();
    const draft = this.#draft();
    try {
      const doc = await this.#write(draft);
      this.#afterSave(doc, draft);
      return true;
    } catch (why) {
      if (asRefusal(why).code === "timeout") this.#late = draft;
      this.#refused(why);
      return false;
    } finally {
      this.#saving = false;
      this.#changed();
    }
  }

  #write(draft: Draft): Promise<Doc> {
    const { name, type, summary, tags, content } = draft;
    const doc = this.#doc;
    if (!doc) return this.#desk.ask<Doc>("create", { name, type, content, tags, ...(summary ? { summary } : {}) });
    return this.#desk.ask<Doc>("save", { id: doc.id, changes: changesOf(draft, this.#base), expected_version: doc.version });
  }

  #afterSave(doc: Doc, sent: Draft): void {
    const typed = this.#draft(); // while the answer was on its way
    const fresh = this.#making;
    this.#making = false;
    this.#doc = doc;
    this.#base = draftOf(doc);
    if (typed.name === sent.name) this.#name.value = doc.name;
    if (typed.summary === sent.summary) this.#summary.value = this.#base.summary;
    if (sameTags(typed.tags, sent.tags)) this.#tags.value = doc.tags.join(", ");
    if (typed.content === sent.content && doc.content !== sent.content) this.#field.set(doc.content);
    this.#summary.placeholder = doc.derived && doc.summary ? doc.summary : DERIVES;
    if (this.#view === "merge") this.#look("write");
    this.#hush();
    this.#desk.quiet();
    this.#desk.say(`${doc.name} saved.`);
    if (fresh) {
      this.#desk.tell("selected", doc.id);
      void this.#desk.attempt("select", { id: doc.id });
    }
    this.#desk.tell("data", { ids: [doc.id], more: false });
  }

  #refused(why: unknown): void {
    if (asRefusal(why).code === "edit_conflict") void this.#meet();
    else this.#desk.complain(why);
  }

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

  /** Lets the edit stand on their version: what is saved next replaces it, as the person has decided. */
  #standOn(theirs: Doc): void {
    this.#hush();
    this.#late = undefined;
    this.#doc = theirs;
    this.#base = draftOf(theirs);
    this.#changed();
  }

  /** Their text beside the edit, until the next save. */
  #merge(theirs: Doc): void {
    this.#standOn(theirs);
    this.#theirs.textContent = theirs.content;
    this.#look("merge");
    this.#desk.notify({ kind: "info", text: "Their text is beside yours. Bring both together in yours, then save." });
    this.#field.focus();
  }

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

  /** Offers the last text of this shelf that was typed and never saved. */
  async #offerUnsaved(): Promise<void> {
    const [last] = await this.#keeper.unsaved();
    this.#unoffer?.();
    if (!last || this.#desk.signal.aborted) return;
    this.#unoffer = this.#desk.hold({
      kind: "info",
      text: `Unsaved text of ${ago(last.at)} in “${last.name || "a new memory"}”.`,
      actions: [
        { text: "Restore", run: () => void this.#restore(last) },
        { text: "Discard", run: () => (this.#keeper.drop(last.key), void this.#offerUnsaved()) },
      ],
    });
  }

  /** Puts a draft back into the form, on the version that it was written on. */
  async #restore({ key }: Kept): Promise<void> {
    if (!(await this.mayLeave())) return void this.#offerUnsaved();
    const typed = await this.#desk.attempt<Typed>("draft", { key });
    if (!typed) return;
    const doc = typed.memory_id === null ? undefined : await this.#desk.ask<Doc>("open", { id: typed.memory_id }).catch(() => undefined);
    this.#opening += 1;
    if (doc) this.#display(doc);
    else {
      this.#doc = undefined;
      this.#making = true;
      this.#fill({ name: "", type: typed.fields.type, summary: "", tags: [], content: "" });
      this.#show(true);
    }
    this.#desk.tell("selected", doc?.id ?? null);
    void this.#desk.attempt("select", { id: doc?.id ?? null });
    const stale = doc && typed.version !== null && typed.version < doc.version ? typed.version : undefined;
    if (doc && stale) {
      this.#doc = { ...doc, version: stale };
      const past = await this.#desk.ask<Draft>("past", { id: doc.id, version: stale }).catch(() => this.#base);
      this.#base = { ...past, summary: doc.derived ? "" : past.summary };
    }
    this.#put(typed.fields);
    this.#keeper.adopt(key);
    this.#changed();
    this.#field.focus();
    if (stale) void this.#meet();
    void this.#offerUnsaved();
  }

  // The form

  #build(): HTMLFormElement {
    return h(
      "form",
      { className: "msdk-form", noValidate: true, autocomplete: "off", aria: { label: "Memory editor" } },
      h(
        "div",
        { className: "msdk-form-top" },
        this.#back,
        this.#name,
        this.#pin,
        this.#historyButton,
        this.#kind,
      ),
      h("div", { className: "msdk-form-fields" }, field("Summary", this.#summary), field("Tags", this.#tags)),
      h("div", { className: "msdk-bar" }, h("div", { className: "msdk-toggles" }, this.#previewButton, this.#splitButton, this.#attacher.button, this.#replaceButton, this.#attacher.input), this.#size),
      this.#replace.el,
      this.#panes,
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
    this.#type.addEventListener("change", () => this.#choose(this.#type.value));
    this.#previewButton.addEventListener("click", () => this.#look(this.#view === "preview" ? "write" : "preview"));
    this.#splitButton.addEventListener("click", () => this.#look(this.#view === "split" ? "write" : "split"));
    this.#replaceButton.addEventListener("click", () => {
      this.#replaceButton.setAttribute("aria-pressed", String(this.#replace.toggle()));
      if (this.#view === "preview") this.#look("write");
    });
    this.#historyButton.addEventListener("click", () => {
      const doc = this.#doc;
      if (doc) void showHistory(this.#desk, this.#drawer, doc, (now) => this.#doc === doc && !this.dirty && this.#display(now));
    });
    this.#pin.addEventListener("click", () => void this.#togglePin());
    this.#delete.addEventListener("click", () => {
      const name = this.#doc?.name ?? "";
      this.#asking.ask(`Delete “${name}”? You can undo it.`, [
        ["Yes, delete", "msdk-danger", () => void this.#remove()],
        ["Keep it", "", () => undefined],
      ]);
    });
    this.#desk.root.addEventListener("keydown", (event) => {
      if (!command(event) || event.key.toLowerCase() !== "s") return;
      event.preventDefault(); // or the browser offers to save the page
      if (this.dirty) void this.save();
    });
    const { signal } = this.#desk;
    const warn = (event: BeforeUnloadEvent) => this.dirty && event.preventDefault();
    window.addEventListener("beforeunload", warn, { signal });
    this.#desk.on("selected", (id) => void this.#selected(id));
    this.#desk.on("place", () => this.#moved());
    this.#desk.on("data", ({ ids, more }) => void this.#news(ids, more));
    signal.addEventListener("abort", () => this.#field.destroy());
  }

  async #selected(id: string | null): Promise<void> {
    if (id !== (this.#doc?.id ?? null) && this.dirty && !(await this.mayLeave())) return;
    await this.open(id);
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

  /** What is in the form stands on no memory any more. */
  #anew(): void {
    this.#opening += 1;
    this.#doc = undefined;
    this.#making = true;
    this.#base = { ...this.#base, name: "", content: "", summary: "", tags: [] };
    this.#show(true);
    this.#changed();
  }

  /** Another shelf is open now, perhaps by somebody else's choice: nothing that was typed goes with the old one. */
  #moved(): void {
    this.#drawer.close();
    this.#keeper.leave();
    void this.#offerUnsaved();
    if (!this.dirty) return this.#close();
    const name = this.#name.value.trim() || "the new memory";
    this.#hush();
    this.#anew();
    this.#desk.notify({
      kind: "info",
      text: `Another shelf was opened while “${name}” had unsaved changes. Save keeps them here as a new memory.`,
      actions: [{ text: "Discard", run: () => this.#close() }],
    });
  }

  #display(doc: Doc): void {
    const same = this.#doc?.id === doc.id;
    this.#doc = doc;
    this.#making = false;
    this.#fill(draftOf(doc), same);
    this.#summary.placeholder = doc.derived && doc.summary ? doc.summary : DERIVES;
    this.#pin.setAttribute("aria-pressed", String(doc.pinned));
    this.#show(true);
    // In a narrow output the list, which had the focus, has just been hidden.
    if (document.activeElement === document.body) this.#back.focus();
    this.#changed();
    if (this.#view === "merge") this.#look("write");
    if (this.#view !== "write") void this.#render();
  }

  #fill(draft: Draft, keepCursor = false): void {
    this.#base = draft;
    this.#put(draft, keepCursor);
    this.#hush();
  }

  #put(draft: Draft, keepCursor = false): void {
    this.#name.value = draft.name;
    this.#summary.value = draft.summary;
    this.#summary.placeholder = DERIVES;
    this.#tags.value = draft.tags.join(", ");
    this.#choose(draft.type);
    const [from, to] = this.#field.selection();
    this.#field.set(draft.content);
    const end = this.#field.get().length;
    if (keepCursor) this.#field.select(Math.min(from, end), Math.min(to, end));
  }

  #choose(type: string): void {
    if (type && ![...this.#type.options].some((option) => option.value === type)) {
      this.#type.append(h("option", { value: type }, titled(type)));
    }
    this.#type.value = type;
    this.#kind.style.setProperty("--hue", String(mark(type).hue));
  }

  #draft(): Draft {
    return {
      name: this.#name.value.trim(),
      type: this.#type.value,
      summary: this.#summary.value.trim(),
      // A tag may hold a comma; as long as nobody touched them, they are what they were.
      tags: this.#tags.value === this.#base.tags.join(", ") ? this.#base.tags : parsedTags(this.#tags.value),
      content: this.#field.get(),
    };
  }

  #revert(): void {
    if (this.#making) return this.#close();
    this.#fill(this.#base);
    this.#changed();
  }

  #close(): void {
    this.#opening += 1;
    this.#doc = undefined;
    this.#making = false;
    this.#hush();
    this.#show(false);
    this.#changed();
  }

  #show(on: boolean): void {
    this.#form.hidden = !on;
    this.#empty.hidden = on;
    for (const one of [this.#delete, this.#pin, this.#historyButton]) one.hidden = this.#making;
    this.fit();
  }

  #changed(): void {
    const dirty = this.dirty;
    this.#save.disabled = this.#saving || !dirty;
    this.#state.dataset["state"] = this.#saving ? "saving" : dirty ? "dirty" : "clean";
    this.#state.textContent = this.#saving ? "Saving…" : dirty ? "Unsaved changes" : this.#doc ? `Saved ${ago(this.#doc.updated)}` : "";
    this.#measure();
    this.#keeper.changed(dirty);
    if (dirty !== this.#toldDirty) {
      this.#toldDirty = dirty;
      void this.#desk.kernel.call("note", { dirty }).catch(() => undefined);
    }
    if (this.#view === "split") {
      clearTimeout(this.#still);
      this.#still = setTimeout(() => void this.#render(), STILL);
    }
  }

  #measure(): void {
    const type = this.#types.find(({ name }) => name === this.#type.value);
    const text = this.#field.get();
    const size = characters(text);
    const used = type?.unit === "bytes" ? new TextEncoder().encode(text).length : size;
    const over = type !== undefined && used > type.limit;
    // A limit is worth a word only once it comes near.
    const near = type !== undefined && used > type.limit * 0.8;
    this.#size.textContent = `${size.toLocaleString("en")} characters${near ? `, ${used.toLocaleString("en")} of ${type.limit.toLocaleString("en")} ${type.unit}` : ""}`;
    this.#size.classList.toggle("msdk-over", over);
  }

  // Preview

  get #view(): View {
    return this.#panes.dataset["view"] as View;
  }

  #look(view: View): void {
    this.#panes.dataset["view"] = view;
    this.#previewButton.setAttribute("aria-pressed", String(view === "preview"));
    this.#splitButton.setAttribute("aria-pressed", String(view === "split"));
    if (view === "preview" || view === "split") void this.#render();
  }

  async #render(): Promise<void> {
    const text = this.#field.get();
    try {
      const rendered = await this.#desk.ask<Rendered>("preview", { text });
      if (text === this.#field.get()) await this.#preview.show(rendered);
    } catch (why) {
      const { message, suggestion } = asRefusal(why);
      this.#preview.tell([message, suggestion].filter(Boolean).join(" "));
    }
  }

  #hush(): void {
    this.#asking.hush();
  }

  /** Puts CodeMirror in place of the text area, with all that was typed so far. */
  async #upgrade(): Promise<void> {
    try {
      const { codeField } = await this.#desk.load<typeof CodeMirror>("codemirror.js");
      if (this.#desk.signal.aborted) return;
      const [text, focused, [from, to]] = [this.#field.get(), this.#field.focused(), this.#field.selection()];
      this.#field.destroy();
      this.#field = codeField(this.#host, "Body", () => this.#changed());
      this.#field.set(text);
      this.#field.hint("Write in markdown…");
      if (focused) {
        this.#field.select(from, to);
        this.#field.focus();
      }
      this.#desk.root.dataset["editor"] = "codemirror";
    } catch {
      this.#desk.root.dataset["editor"] = "plain"; // the text area does the work
    }
  }
}

function field(name: string, input: HTMLInputElement): HTMLElement {
  return h("label", { className: "msdk-field" }, h("span", {}, name), input);
}

function toggle(picture: Parameters<typeof icon>[0], name: string): HTMLButtonElement {
  return h("button", { className: "msdk-toggle", aria: { pressed: "false" } }, icon(picture), name);
}
