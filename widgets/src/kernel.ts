import type { AnyModel } from "@anywidget/types";

/** What the page sends. `id` is unique over all views of all widgets. */
export interface Request {
  id: string;
  verb: string;
  args: Record<string, unknown>;
}

/** What the kernel answers: every request gets exactly one. */
export type Reply = { id: string; ok: unknown } | { id: string; error: { code: string; message: string; suggestion: string } };

/** A request that was answered with a refusal, or not at all. */
export class Refusal extends Error {
  readonly code: string;
  readonly suggestion: string;
  constructor(code: string, message: string, suggestion = "") {
    super(message);
    this.code = code;
    this.suggestion = suggestion;
  }
}

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (why: Refusal) => void;
  timer: ReturnType<typeof setTimeout>;
}

/** Requests over custom messages. anywidget's own `invoke` gives up after 3 s, hides exceptions and is absent in marimo. */
export class Kernel {
  readonly #model: AnyModel;
  readonly #waiting = new Map<string, Waiting>();
  readonly #tag = Math.random().toString(36).slice(2, 10);
  #count = 0;
  #leaving: Request[] = [];

  constructor(model: AnyModel, signal: AbortSignal) {
    this.#model = model;
    const take = (message: unknown, buffers?: DataView[]) => this.#take(message, buffers);
    model.on("msg:custom", take);
    signal.addEventListener("abort", () => {
      model.off("msg:custom", take);
      for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(new Refusal("closed", "The widget was closed."));
    });
  }

  /**
   * Asks the kernel for `verb`. Rejects with a `Refusal`; its code is `dead` when the comm is gone, `timeout` after `timeout`
   * ms. Bytes that come beside an answer are its `bytes`. What is asked in one moment goes as one message.
   */
  call<T>(verb: string, args: Record<string, unknown> = {}, timeout = 30_000, buffers: ArrayBuffer[] = []): Promise<T> {
    this.#count += 1;
    const request: Request = { id: `${this.#tag}-${this.#count}`, verb, args };
    return new Promise<T>((resolve, reject) => {
      const late = () => {
        this.#waiting.delete(request.id);
        reject(new Refusal("timeout", "The kernel has not answered.", "It may be busy with another cell."));
      };
      this.#waiting.set(request.id, { resolve: resolve as (value: unknown) => void, reject, timer: setTimeout(late, timeout) });
      if (buffers.length) {
        this.#leave(); // what was asked before goes before
        this.#send([request], buffers);
      } else if (this.#leaving.push(request) === 1) queueMicrotask(() => this.#leave());
    });
  }

  #leave(): void {
    const requests = this.#leaving;
    this.#leaving = [];
    if (requests.length) this.#send(requests);
  }

  #send(requests: Request[], buffers?: ArrayBuffer[]): void {
    const message = requests.length > 1 ? { batch: requests } : requests[0];
    try {
      if (buffers) this.#model.send(message, undefined, buffers);
      else this.#model.send(message);
    } catch {
      for (const { id } of requests) this.#settle(id)?.reject(new Refusal("dead", "The kernel of this widget is gone.", "Run the cell again."));
    }
  }

  #take(message: unknown, buffers?: DataView[]): void {
    const { batch } = (message ?? {}) as { batch?: unknown };
    if (Array.isArray(batch)) return batch.forEach((each) => this.#take(each));
    const reply = message as Partial<{ id: string; ok: unknown; error: { code: string; message: string; suggestion: string } }> | null;
    if (!reply || typeof reply.id !== "string") return;
    const waiting = this.#settle(reply.id); // undefined: the answer to another view, or one that came too late
    if (!waiting) return;
    if (reply.error) waiting.reject(new Refusal(reply.error.code, reply.error.message, reply.error.suggestion));
    else waiting.resolve(buffers?.length ? { ...(reply.ok as object), bytes: buffers[0] } : reply.ok);
  }

  #settle(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting) clearTimeout(waiting.timer);
    this.#waiting.delete(id);
    return waiting;
  }
}
