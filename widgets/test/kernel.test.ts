import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AnyModel } from "@anywidget/types";
import cases from "../../tests/widgets/protocol.json" with { type: "json" };
import { Kernel } from "../src/kernel.ts";
import { FakeModel } from "./fake.ts";

function pair(): { model: FakeModel; kernel: Kernel; sent: { id: string }[]; stop: AbortController } {
  const model = new FakeModel();
  const sent: { id: string }[] = [];
  model.send = (message) => void sent.push(message as { id: string });
  const stop = new AbortController();
  return { model, kernel: new Kernel(model as unknown as AnyModel, stop.signal), sent, stop };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the page's half of the protocol", () => {
  it.each(cases.page)("$name", async ({ reply, buffers, resolves, rejects }) => {
    const { model, kernel, sent } = pair();
    const call = kernel.call("rows", { offset: 0 }, 50);
    await Promise.resolve();
    expect(sent).toEqual([{ id: expect.any(String), verb: "rows", args: { offset: 0 } }]);
    const views = (buffers ?? []).map((text) => new DataView(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer));
    model.emit("msg:custom", "id" in reply ? reply : { id: sent[0]?.id, ...reply }, views);
    const wanted = views.length ? { ...(resolves as object), bytes: views[0] } : resolves;
    const checked = rejects ? expect(call).rejects.toMatchObject(rejects) : expect(call).resolves.toEqual(wanted);
    await vi.advanceTimersByTimeAsync(60);
    await checked;
  });

  it("sends what is asked in one moment as one message, and settles each request by its own answer", async () => {
    const { model, kernel, sent } = pair();
    const calls = [kernel.call("rows", { offset: 0 }), kernel.call("types"), kernel.call("drop")];
    const settled = Promise.allSettled(calls);
    await Promise.resolve();
    expect(sent).toEqual([
      {
        batch: [
          { id: expect.any(String), verb: "rows", args: { offset: 0 } },
          { id: expect.any(String), verb: "types", args: {} },
          { id: expect.any(String), verb: "drop", args: {} },
        ],
      },
    ]);
    const [rows, types, drop] = (sent[0] as unknown as { batch: { id: string }[] }).batch;
    const error = { code: "not_found", message: "No such request: 'drop'.", suggestion: "" };
    model.emit("msg:custom", { batch: [{ id: types?.id, ok: 2 }, { id: drop?.id, error }, { id: rows?.id, ok: 1 }, 7] });
    expect(await settled).toMatchObject([{ value: 1 }, { value: 2 }, { reason: { code: "not_found" } }]);
    void kernel.call("rows").catch(() => undefined);
    await Promise.resolve();
    expect(sent[1]).toMatchObject({ verb: "rows" });
  });

  it("sends bytes in a message of their own, after what was asked before", () => {
    const { kernel, sent } = pair();
    for (const verb of ["rows", "types"]) void kernel.call(verb).catch(() => undefined);
    void kernel.call("attach", {}, 50, [new ArrayBuffer(3)]).catch(() => undefined);
    expect(sent).toMatchObject([{ batch: [{ verb: "rows" }, { verb: "types" }] }, { verb: "attach" }]);
  });

  it("gives every request of every view an id of its own", async () => {
    const [one, two] = [pair(), pair()];
    for (const { kernel } of [one, two, one]) {
      void kernel.call("rows").catch(() => undefined);
      await Promise.resolve();
    }
    const ids = [...one.sent, ...two.sent].map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });

  it("rejects at once when the comm is gone", async () => {
    const { model, kernel } = pair();
    model.send = () => {
      throw new Error("Cannot send");
    };
    await expect(kernel.call("rows")).rejects.toMatchObject({ code: "dead" });
  });

  it("rejects what is open when the view goes, and hears nothing more", async () => {
    const { model, kernel, sent, stop } = pair();
    const call = kernel.call("rows");
    const checked = expect(call).rejects.toMatchObject({ code: "closed" });
    stop.abort();
    await checked;
    expect(() => model.emit("msg:custom", { id: sent[0]?.id, ok: 1 })).not.toThrow();
  });
});
