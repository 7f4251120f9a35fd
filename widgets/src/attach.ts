import type { Desk } from "./desk.ts";
import { h, tool } from "./dom.ts";
import type { Field } from "./field.ts";

const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Bytes of one picture. A larger message would end the connection to the kernel. */
const MOST = 5 * 1024 * 1024;

/** Brings pictures into the body: picked, pasted or dropped, stored by the kernel, named at the cursor. */
export class Attacher {
  readonly button: HTMLButtonElement;
  readonly input: HTMLInputElement;
  readonly #desk: Desk;
  readonly #field: () => Field;

  /** `host` is where pictures may be dropped and pasted. */
  constructor(desk: Desk, host: HTMLElement, field: () => Field) {
    this.#desk = desk;
    this.#field = field;
    this.input = h("input", { type: "file", accept: KINDS.join(), multiple: true, hidden: true, tabIndex: -1, aria: { label: "Pictures" } });
    this.input.addEventListener("change", () => {
      void this.#attach([...(this.input.files ?? [])]);
      this.input.value = ""; // or the same file could not be picked again
    });
    this.button = tool("picture", "Attach media", () => this.input.click());
    this.#listen(host);
  }

  #listen(host: HTMLElement): void {
    const files = (data: DataTransfer | null) => [...(data?.files ?? [])];
    // In the capture phase: the editor inside would put a file's bytes in as text.
    const take = (event: Event, found: File[]) => {
      if (!found.length) return;
      event.preventDefault();
      event.stopPropagation();
      void this.#attach(found);
    };
    host.addEventListener(
      "paste",
      (event) => {
        // A copied table comes as text and as a picture of it: the text is meant.
        if (!event.clipboardData?.types.includes("text/plain")) take(event, files(event.clipboardData));
      },
      { capture: true },
    );
    const over = (on: boolean) => host.classList.toggle("msdk-over-file", on);
    host.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      over(true);
    });
    host.addEventListener("dragleave", () => over(false));
    host.addEventListener(
      "drop",
      (event) => {
        over(false);
        const found = files(event.dataTransfer);
        if (found.length) this.#field().aim(event.clientX, event.clientY);
        take(event, found);
      },
      { capture: true },
    );
  }

  async #attach(files: File[]): Promise<void> {
    for (const file of files) {
      const why = unfit(file);
      if (why) {
        this.#desk.notify({ kind: "error", text: `“${file.name}” was not attached: ${why}` });
        continue;
      }
      this.#desk.say(`Attaching ${file.name}.`);
      const content = await file.arrayBuffer();
      const name = file.name.replace(/\.\w+$/, "").trim() || "picture";
      const made = await this.#desk.attempt<{ markdown: string }>("attach", { name: name.slice(0, 200) }, [content]);
      if (!made) return;
      this.#field().insert(made.markdown);
      this.#desk.say(`${file.name} attached.`);
    }
    this.#field().focus();
  }
}

function unfit(file: File): string | undefined {
  if (!KINDS.includes(file.type)) return "only PNG, JPEG, GIF and WebP pictures can be shown.";
  if (file.size > MOST) return `it has ${(file.size / 1024 / 1024).toFixed(1)} MiB; the limit is ${MOST / 1024 / 1024}.`;
  return undefined;
}
