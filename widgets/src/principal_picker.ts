import type { Desk } from "./desk.ts";
import { h, icon } from "./dom.ts";
import { radios } from "./radios.ts";
import type { Places, Principal } from "./wire.ts";

/** Who acts: one choice per principal the caller may see. */
export class PrincipalPicker {
  readonly el = h("div", { className: "msdk-principals", role: "radiogroup", aria: { label: "Acting principal" } });
  readonly #desk: Desk;
  #principals: Principal[] = [];

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  show({ principals }: Places): void {
    this.#principals = principals;
    this.#draw(this.#desk.trait("principal_id"));
  }

  #draw(chosen: number): void {
    const choices = this.#principals.map((principal) => ({
      value: principal.id,
      chosen: principal.id === chosen,
      title: principal.own ? `${principal.name} (you)` : `${principal.name} (group)`,
      content: [
        h("span", { className: `msdk-avatar msdk-avatar-${principal.kind}`, aria: { hidden: "true" } }, icon(principal.kind)),
        h("span", { className: "msdk-clip" }, principal.name),
        ...(principal.kind === "group" ? [h("span", { className: "msdk-sr" }, " (group)")] : []),
      ],
    }));
    radios(this.el, choices, (id, again) => void (again ? undefined : this.#choose(id)));
  }

  async #choose(id: number): Promise<void> {
    if (!(await this.#desk.mayLeave())) return this.#draw(this.#desk.trait("principal_id"));
    this.#draw(id); // at once; the kernel's trait confirms it, or the next line takes it back
    await this.#desk.attempt("choose", { principal_id: id });
    this.#draw(this.#desk.trait("principal_id"));
  }
}
