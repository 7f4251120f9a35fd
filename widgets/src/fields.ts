import type * as CodeMirror from "./codemirror.ts";
import type { Desk } from "./desk.ts";
import { h, icon } from "./dom.ts";
import { characters, type Draft, draftOf, parsedTags, sameTags } from "./draft.ts";
import { type Field, plainField } from "./field.ts";
import { mark, titled } from "./labels.ts";
import type { Doc, TypeCount } from "./wire.ts";

/** What an empty summary says. */
const DERIVES = "made from the body";

/** What a person fills in: name, type, summary, tags, and the body, which CodeMirror takes over once it has come. */
export class Fields {
  readonly #name = text("Name", "msdk-title", { maxLength: 400, placeholder: "Name" });
  readonly #type = h("select", { className: "msdk-input msdk-select", aria: { label: "Type" } });
  readonly #summary = text("Summary");
  readonly #tags = text("Tags", "", { placeholder: "none" });
  readonly name = this.#name;
  readonly kind = h("span", { className: "msdk-kind" }, this.#type, icon("down"));
  readonly lines = h("div", { className: "msdk-form-fields" }, labelled("Summary", this.#summary), labelled("Tags", this.#tags));
  readonly host = h("div", { className: "msdk-body" });
  /** How long the body is, and of what. */
  readonly size = h("span", { className: "msdk-size" });
  readonly #desk: Desk;
  readonly #changed: () => void;
  #body: Field;
  #types: TypeCount[] = [];

  /** `changed` hears of every key in the body; the other fields tell by an `input` event. */
  constructor(desk: Desk, changed: () => void) {
    this.#desk = desk;
    this.#changed = changed;
    this.#body = plainField(this.host, "Body", changed);
    this.#type.addEventListener("change", () => this.#choose(this.#type.value));
    desk.signal.addEventListener("abort", () => this.#body.destroy());
    void this.#upgrade();
  }

  get body(): Field {
    return this.#body;
  }

  /** The type that a new memory has until somebody chooses another. */
  get usual(): string {
    return (this.#types.find(({ name }) => name === "context") ?? this.#types[0])?.name ?? "context";
  }

  /** What the memory is called in a question. */
  get called(): string {
    return this.#name.value.trim() || "the new memory";
  }

  /** The types that can be chosen. */
  offer(types: TypeCount[]): void {
    this.#types = types;
    const chosen = this.#type.value || this.usual;
    this.#type.replaceChildren(...types.map(({ name }) => h("option", { value: name }, titled(name))));
    this.#choose(chosen);
    this.measure();
  }

  /** What the fields hold. `base` is what they were filled with. */
  read(base: Draft): Draft {
    return {
      name: this.#name.value.trim(),
      type: this.#type.value,
      summary: this.#summary.value.trim(),
      // A tag may hold a comma; as long as nobody touched them, they are what they were.
      tags: this.#tags.value === base.tags.join(", ") ? base.tags : parsedTags(this.#tags.value),
      content: this.#body.get(),
    };
  }

  put(draft: Draft, keepCursor = false): void {
    this.#name.value = draft.name;
    this.#summary.value = draft.summary;
    this.#tags.value = draft.tags.join(", ");
    this.tell(undefined);
    this.#choose(draft.type);
    const [from, to] = this.#body.selection();
    this.#body.set(draft.content);
    const end = this.#body.get().length;
    if (keepCursor) this.#body.select(Math.min(from, end), Math.min(to, end));
  }

  /** Shows what the kernel made of `sent`; what was typed since stays. */
  settle(doc: Doc, sent: Draft): void {
    const typed = this.read(sent);
    const kept = draftOf(doc);
    if (typed.name === sent.name) this.#name.value = kept.name;
    if (typed.summary === sent.summary) this.#summary.value = kept.summary;
    if (sameTags(typed.tags, sent.tags)) this.#tags.value = kept.tags.join(", ");
    if (typed.content === sent.content && kept.content !== sent.content) this.#body.set(kept.content);
    this.tell(doc);
  }

  /** Shows the summary that the kernel derives as long as nobody writes one. */
  tell(doc: Doc | undefined): void {
    this.#summary.placeholder = doc?.derived && doc.summary ? doc.summary : DERIVES;
  }

  measure(): void {
    const type = this.#types.find(({ name }) => name === this.#type.value);
    const body = this.#body.get();
    const size = characters(body);
    const used = type?.unit === "bytes" ? new TextEncoder().encode(body).length : size;
    // A limit is worth a word only once it comes near.
    const near = type !== undefined && used > type.limit * 0.8;
    this.size.textContent = `${size.toLocaleString("en")} characters${near ? `, ${used.toLocaleString("en")} of ${type.limit.toLocaleString("en")} ${type.unit}` : ""}`;
    this.size.classList.toggle("msdk-over", type !== undefined && used > type.limit);
  }

  #choose(type: string): void {
    if (type && ![...this.#type.options].some((option) => option.value === type)) {
      this.#type.append(h("option", { value: type }, titled(type)));
    }
    this.#type.value = type;
    this.kind.style.setProperty("--hue", String(mark(type).hue));
  }

  /** Puts CodeMirror in place of the text area, with all that was typed so far. */
  async #upgrade(): Promise<void> {
    try {
      const { codeField } = await this.#desk.load<typeof CodeMirror>("codemirror.js");
      if (this.#desk.signal.aborted) return;
      const [body, focused, [from, to]] = [this.#body.get(), this.#body.focused(), this.#body.selection()];
      this.#body.destroy();
      this.#body = codeField(this.host, "Body", this.#changed);
      this.#body.set(body);
      this.#body.hint("Write in markdown…");
      if (focused) {
        this.#body.select(from, to);
        this.#body.focus();
      }
      this.#desk.root.dataset["editor"] = "codemirror";
    } catch {
      this.#desk.root.dataset["editor"] = "plain"; // the text area does the work
    }
  }
}

function text(name: string, look = "", more: Partial<HTMLInputElement> = {}): HTMLInputElement {
  return h("input", { type: "text", dir: "auto", className: `msdk-input ${look}`.trim(), autocomplete: "off", aria: { label: name }, ...(more as object) });
}

function labelled(name: string, input: HTMLInputElement): HTMLElement {
  return h("label", { className: "msdk-field" }, h("span", {}, name), input);
}
