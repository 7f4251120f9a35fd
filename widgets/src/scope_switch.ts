import type { Desk } from "./desk.ts";
import { h, icon, shield, uid } from "./dom.ts";
import { radios } from "./radios.ts";
import type { Agent, Places } from "./wire.ts";

/** Global | Agent: name. The agent half goes to the first agent, and opens the list of agents when it is on already. */
export class ScopeSwitch {
  readonly el: HTMLElement;
  readonly #group = h("div", { className: "msdk-segments", role: "radiogroup", aria: { label: "Scope" } });
  readonly #list = h("ul", { className: "msdk-menu", id: uid("agents"), role: "listbox", tabIndex: -1, hidden: true, aria: { label: "Agents" } });
  readonly #desk: Desk;
  #agents: Agent[] = [];
  #active = 0;

  constructor(desk: Desk) {
    this.#desk = desk;
    shield(this.#list);
    this.el = h("div", { className: "msdk-scope" }, this.#group, this.#list);
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    this.#list.addEventListener("focusout", () => this.#close());
  }

  show({ agents }: Places): void {
    this.#agents = agents;
    this.#draw(this.#desk.trait("agent_id"));
  }

  #draw(chosen: number | null): void {
    const agent = this.#agents.find(({ id }) => id === chosen) ?? this.#agents[0];
    const none = agent === undefined;
    const choices = [
      { value: false, chosen: chosen === null, content: [icon("globe"), "Global"] },
      {
        value: true,
        chosen: chosen !== null,
        disabled: none,
        title: none ? "No agents yet: store.agents.create(…) makes one" : "",
        content: [
          icon("agent"),
          h("span", { className: "msdk-clip" }, none ? "Agent: none" : `Agent: ${agent.name}`),
          ...(this.#agents.length > 1 ? [icon("down")] : []),
        ],
      },
    ];
    const buttons = radios(this.#group, choices, (agents, again) => {
      if (agents && again) this.#open();
      else if (!again) void this.#enter(agents ? (agent?.id ?? null) : null);
    });
    buttons[1]?.addEventListener("keydown", (event) => {
      if (chosen !== null && event.altKey && event.key === "ArrowDown") this.#open();
    });
  }

  async #enter(agent: number | null): Promise<void> {
    const before = this.#desk.trait("agent_id");
    if (agent === before) return;
    if (!(await this.#desk.mayLeave())) return this.#draw(before);
    this.#draw(agent);
    await this.#desk.attempt("enter", { agent_id: agent });
    this.#draw(this.#desk.trait("agent_id"));
  }

  #open(): void {
    const chosen = this.#desk.trait("agent_id");
    this.#active = Math.max(0, this.#agents.findIndex(({ id }) => id === chosen));
    this.#list.replaceChildren(
      ...this.#agents.map((agent) =>
        h(
          "li",
          {
            id: uid("agent"),
            role: "option",
            aria: { selected: String(agent.id === chosen) },
            on: { pointerdown: (event) => (event.preventDefault(), this.#take(agent)) },
          },
          icon("agent"),
          h("span", { className: "msdk-clip" }, agent.name),
          agent.id === chosen ? icon("check") : null,
        ),
      ),
    );
    this.#list.hidden = false;
    this.#list.focus();
    this.#mark();
  }

  #mark(): void {
    [...this.#list.children].forEach((item, i) => item.classList.toggle("msdk-active", i === this.#active));
    const active = this.#list.children[this.#active];
    if (active) this.#list.setAttribute("aria-activedescendant", active.id);
    active?.scrollIntoView({ block: "nearest" });
  }

  #key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const agent = this.#agents[this.#active];
    if (step) this.#active = Math.min(this.#agents.length - 1, Math.max(0, this.#active + step));
    else if ((event.key === "Enter" || event.key === " ") && agent) this.#take(agent);
    else if (event.key === "Escape") this.#leave();
    else return;
    event.preventDefault();
    this.#mark();
  }

  #take(agent: Agent): void {
    this.#leave();
    void this.#enter(agent.id);
  }

  #leave(): void {
    this.#close();
    this.#group.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }

  #close(): void {
    this.#list.hidden = true;
    this.#list.removeAttribute("aria-activedescendant");
  }
}
