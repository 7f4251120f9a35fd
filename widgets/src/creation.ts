import { asRefusal, type Desk } from "./desk.ts";
import { newKey } from "./dom.ts";
import type { Draft } from "./draft.ts";
import type { Doc } from "./wire.ts";

interface Sent {
  key: string;
  draft: Draft;
}

/** The making of one memory, which happens once however often it has to be asked for. */
export class Creation {
  readonly #desk: Desk;
  #sent: Sent | undefined; // nobody answered; it may have been carried out all the same

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /**
   * Creates the memory; answers it, and the draft that it was made of. That is an earlier one when a try that nobody
   * answered had come through.
   */
  async make(draft: Draft): Promise<[Doc, Draft]> {
    const known = this.#sent;
    const sent = known ?? { key: newKey(), draft };
    this.#sent = sent;
    const { summary, ...rest } = sent.draft;
    try {
      const doc = await this.#desk.ask<Doc>("create", { key: sent.key, ...rest, ...(summary ? { summary } : {}) });
      this.#sent = undefined;
      return [doc, sent.draft];
    } catch (why) {
      if (["timeout", "dead", "closed"].includes(asRefusal(why).code)) throw why;
      this.#sent = undefined;
      if (!known) throw why;
      return this.make(draft); // the earlier try was refused; this one may not be
    }
  }
}
