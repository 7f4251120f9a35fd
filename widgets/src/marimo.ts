import type { Desk } from "./desk.ts";
import type { Traits } from "./wire.ts";

const TOLD: (keyof Traits)[] = ["principal_id", "agent_id", "filter", "grouped", "selected", "dirty", "revision"];

/**
 * marimo runs the cells that read a widget when the page writes a trait, never when the kernel does. So there the page
 * answers what the kernel has set by a trait of its own, which nobody reads: it cannot take back what was set since.
 */
export function rerunCells({ model, root, signal }: Desk): void {
  let coming = false;
  const answer = () => {
    if (coming || !inMarimo(root)) return;
    coming = true; // traits that change together are answered once
    queueMicrotask(() => {
      coming = false;
      model.set("heard", ((model.get("heard") as number | undefined) ?? 0) + 1);
      model.save_changes();
    });
  };
  for (const trait of TOLD) model.on(`change:${trait}`, answer);
  signal.addEventListener("abort", () => {
    for (const trait of TOLD) model.off(`change:${trait}`, answer);
  });
}

function inMarimo(el: HTMLElement): boolean {
  const tree = el.getRootNode();
  return el.closest("marimo-anywidget") !== null || (tree instanceof ShadowRoot && tree.host.localName === "marimo-anywidget");
}
