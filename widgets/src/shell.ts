import type { AnyModel } from "@anywidget/types";
import { Kernel, type Refusal } from "./kernel.ts";
import type * as Ui from "./ui.ts";

/** What the kernel tells of itself: in answer to `hello`, and in the trait `_about`. */
export interface Hello {
  widget: string;
  assets: Record<string, string>;
}

interface Context {
  model: AnyModel;
  el: HTMLElement;
  signal?: AbortSignal;
}

/** How long a silent kernel may take before the page says so, in ms. */
const PATIENCE = 4_000;
const SHELF = Symbol.for("memories-sdk.modules");
/** How high each widget will be, in px: what waits takes that room, or all would be in sight as long as none is drawn. */
const HEIGHT: Record<string, number> = { MemoryPanel: 590, MemoryList: 460, MarkdownEditor: 460 };

/** The modules of this page by digest: whatever the number of widgets, each crosses the comm and is evaluated once. */
function shelf(): Map<string, Promise<unknown>> {
  const page = globalThis as unknown as Record<symbol, Map<string, Promise<unknown>> | undefined>;
  return (page[SHELF] ??= new Map());
}

/** Fetches the module of that digest over the comm, or takes it from the shelf. */
function load<T>(kernel: Kernel, digest: string): Promise<T> {
  const known = shelf().get(digest);
  if (known) return known as Promise<T>;
  const coming = kernel.call<string>("asset", { digest }).then(async (text) => {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    try {
      return (await import(url)) as T;
    } finally {
      URL.revokeObjectURL(url);
    }
  });
  coming.catch(() => shelf().delete(digest)); // a failed fetch may be tried again
  shelf().set(digest, coming);
  return coming;
}

/** What shows until the widget's own module is there: a quiet line, then the reason when nobody answers. */
function waitingRoom(el: HTMLElement, height = 0): (text: string) => void {
  const line = document.createElement("div");
  line.className = "msdk-waiting";
  line.setAttribute("role", "status");
  line.style.cssText =
    `box-sizing:border-box;min-height:${height}px;padding:12px 14px;border:1px solid var(--vscode-editorWidget-border,var(--jp-border-color2,#8886));border-radius:8px;` +
    "font:13px/1.5 var(--vscode-font-family,var(--jp-ui-font-family,system-ui,sans-serif));" +
    "color:var(--vscode-foreground,var(--jp-ui-font-color1,inherit))";
  line.textContent = "Opening memories…";
  el.replaceChildren(line);
  return (text) => {
    line.textContent = text;
  };
}

/**
 * Resolves once the element is in sight or less than a screen away, so that twenty panels in a notebook cost what shows of
 * them. It does so later for one in a folded part of the page, and at once where the host cannot tell.
 */
function near(el: HTMLElement, signal: AbortSignal): Promise<void> {
  if (typeof IntersectionObserver === "undefined") return Promise.resolve();
  return new Promise((resolve) => {
    let wide: IntersectionObserver | undefined;
    const stop = () => [inSight, wide].forEach((each) => each?.disconnect());
    const look = (seen: IntersectionObserverEntry[]) => {
      if (seen.some((each) => each.isIntersecting)) {
        stop();
        resolve();
      } else if (!wide && el.isConnected) {
        // What lies between the window and what scrolls in it may clip, so only that one's own edge can be widened.
        wide = new IntersectionObserver(look, { root: scroller(el), rootMargin: "100% 0px" });
        wide.observe(el);
      }
    };
    const inSight = new IntersectionObserver(look);
    inSight.observe(el);
    signal.addEventListener("abort", stop);
  });
}

/** What scrolls the element, if it is not the page itself. */
function scroller(el: HTMLElement): HTMLElement | null {
  for (let each = el.parentElement; each; each = each.parentElement)
    if (each.scrollHeight > each.clientHeight && /auto|scroll/.test(getComputedStyle(each).overflowY)) return each;
  return null;
}

async function hello(kernel: Kernel, signal: AbortSignal, say: (text: string) => void): Promise<Hello> {
  for (;;) {
    try {
      return await kernel.call<Hello>("hello", {}, PATIENCE);
    } catch (why) {
      const { code } = why as Refusal;
      if (signal.aborted || (code !== "timeout" && code !== "dead")) throw why;
      say(
        "Not connected. No kernel answers for this widget: run its cell again. " +
          "If the kernel is busy, the widget opens as soon as it is free.",
      );
      if (code === "dead") throw why;
    }
  }
}

async function start(context: Context, signal: AbortSignal): Promise<void> {
  const { model, el } = context;
  const about = model.get("_about") as Hello | undefined;
  const say = waitingRoom(el, HEIGHT[about?.widget ?? ""]);
  const kernel = new Kernel(model, signal);
  try {
    await near(el, signal);
    // Where the page has the module, the widget's own first question shows whether the kernel lives.
    const { widget, assets } = about && shelf().has(about.assets["ui.js"] ?? "") ? about : await hello(kernel, signal, say);
    const ui = await load<typeof Ui>(kernel, assets["ui.js"] ?? "");
    if (signal.aborted) return;
    ui.mount({ widget, kernel, model, el, signal, load: (name) => load(kernel, assets[name] ?? "") });
  } catch (why) {
    const { code, message, suggestion } = why as Refusal;
    if (code !== "dead" && code !== "closed") say(["This widget could not start.", message, suggestion].filter(Boolean).join(" "));
  }
}

export default {
  render(context: Context): () => void {
    // Hosts with an older front end pass no signal and call what render returns instead.
    const stop = new AbortController();
    context.signal?.addEventListener("abort", () => stop.abort());
    void start(context, stop.signal);
    return () => stop.abort();
  },
};
