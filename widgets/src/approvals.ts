import { asRefusal, type Desk } from "./desk.ts";
import { h, icon, shield } from "./dom.ts";
import type { Drawer } from "./drawer.ts";
import { ago, moment, until, who } from "./labels.ts";
import type { Asked } from "./wire.ts";

/** What agents ask a person for: a button that counts, and a drawer with each request and its two answers. */
export class Approvals {
  readonly button: HTMLButtonElement;
  readonly #desk: Desk;
  readonly #drawer: Drawer;
  readonly #count = h("span", { className: "msdk-waiting-count" });
  readonly #list = h("ul", { className: "msdk-requests", aria: { label: "Requests" } });
  readonly #none = h("p", { className: "msdk-diff-none" }, "Nothing waits for you.");

  constructor(desk: Desk, drawer: Drawer) {
    this.#desk = desk;
    this.#drawer = drawer;
    this.button = h("button", { className: "msdk-button msdk-approvals", hidden: true, on: { click: () => void this.open() } }, icon("inbox"), "Approvals ", this.#count);
    desk.on("waiting", (n) => this.#wait(n));
  }

  async open(): Promise<void> {
    this.#list.replaceChildren();
    this.#drawer.open("Approvals", this.#none, this.#list);
    await this.#fill();
  }

  #wait(n: number): void {
    if (n > Number(this.#count.textContent || 0)) this.#desk.say(`${n} waiting for your approval.`);
    this.#count.textContent = n ? n.toLocaleString("en") : "";
    this.button.hidden = !n;
    this.button.setAttribute("aria-label", `Approvals, ${n} waiting`);
    if (this.#list.isConnected) void this.#fill();
  }

  /** Reads the requests again; a card that is there stays, with what it says. */
  async #fill(): Promise<void> {
    const asked = await this.#desk.attempt<Asked[]>("requests");
    if (!asked) return;
    const known = new Map([...this.#list.children].map((card) => [(card as HTMLElement).dataset["id"], card]));
    for (const each of asked) if (!known.delete(each.id)) this.#list.append(this.#card(each));
    for (const gone of known.values()) if (!gone.hasAttribute("data-told")) gone.remove(); // decided elsewhere
    this.#none.hidden = this.#list.childElementCount > 0;
  }

  #card(asked: Asked): HTMLElement {
    const [where = "", ...rest] = asked.preview.split("\n");
    const [owner = "", ...place] = where.split(" · ");
    const lines = rest.join("\n").replace(/^\s*\n/, "").split("\n");
    const answer = h("p", { className: "msdk-request-answer", role: "status" });
    const buttons = h(
      "div",
      { className: "msdk-ask-buttons" },
      h("button", { className: "msdk-button", on: { click: () => void decide("refuse") } }, "Refuse"),
      h("button", { className: "msdk-button msdk-primary", on: { click: () => void decide("grant") } }, "Grant"),
    );
    const card = h(
      "li",
      { className: "msdk-request", data: { id: asked.id } },
      h("div", { className: "msdk-request-head" }, icon("agent"), h("bdi", { className: "msdk-name" }, who(asked.actor)), h("time", { className: "msdk-time", dateTime: asked.at, title: moment(asked.at) }, ago(asked.at))),
      h("p", { className: "msdk-request-text", dir: "auto" }, asked.description),
      h("p", { className: "msdk-request-where" }, `${who(owner)} · ${[...place, until(asked.until)].join(" · ")}`),
      lines.some(Boolean) ? shield(h("pre", { className: "msdk-request-diff", tabIndex: 0, dir: "auto", role: "region", aria: { label: `What would change: ${asked.description}` } }, ...lines.map(diffLine))) : null,
      answer,
      buttons,
    );
    const decide = async (verb: "grant" | "refuse") => {
      for (const button of buttons.querySelectorAll("button")) button.disabled = true;
      try {
        const text = await this.#desk.ask<string | null>(verb, { id: asked.id });
        answer.textContent = verb === "grant" ? text || "Granted." : "Refused.";
        this.#tell(card, buttons);
        if (verb === "grant") this.#desk.tell("data", { ids: [], more: true });
      } catch (why) {
        const { code, message } = asRefusal(why);
        if (code === "dead" || code === "timeout" || code === "internal") {
          for (const button of buttons.querySelectorAll("button")) button.disabled = false;
          return this.#desk.complain(why);
        }
        answer.textContent = code === "edit_conflict" ? `Not carried out: the memory changed since it was asked. ${message}` : message;
        answer.classList.add("msdk-over");
        this.#tell(card, buttons);
      }
    };
    return card;
  }

  /** A decided request keeps its card, with what came of it, until the drawer opens anew. */
  #tell(card: HTMLElement, buttons: HTMLElement): void {
    card.dataset["told"] = "true";
    buttons.remove();
    const next = this.#list.querySelector<HTMLElement>("li:not([data-told]) button");
    (next ?? this.#drawer.el.querySelector<HTMLElement>(".msdk-drawer-title"))?.focus();
  }
}

function diffLine(text: string): HTMLElement {
  const tag = text.startsWith("+ ") ? "ins" : text.startsWith("- ") ? "del" : "span";
  return h(tag, {}, `${text}\n`);
}
