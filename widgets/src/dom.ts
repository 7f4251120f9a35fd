/** What `h` accepts beside the element's own properties. */
interface Extra {
  aria?: Record<string, string>;
  data?: Record<string, string>;
  role?: string;
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
}

const FOCUSABLE = new Set(["BUTTON", "INPUT", "TEXTAREA", "SELECT", "A", "SUMMARY"]);

/**
 * Keeps the notebook's single-key commands away from `el`. Notebook 7 listens in the capture phase and looks at
 * the focused element only, so neither stopPropagation nor a mark on an ancestor would save a cell from `d d`.
 */
export function shield<T extends HTMLElement>(el: T): T {
  el.setAttribute("data-lm-suppress-shortcuts", "true");
  return el;
}

/** Makes an element. Children go in as text or nodes, never as HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Partial<Omit<HTMLElementTagNameMap[K], "role">> & Extra = {},
  ...children: (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  const { aria, data, role, on, ...rest } = props as Extra & Record<string, unknown>;
  Object.assign(el, rest);
  for (const [key, value] of Object.entries(aria ?? {})) el.setAttribute(`aria-${key}`, value);
  for (const [key, value] of Object.entries(data ?? {})) el.dataset[key] = value;
  if (role) el.setAttribute("role", role);
  for (const [name, fn] of Object.entries(on ?? {})) el.addEventListener(name, fn as EventListener);
  if (FOCUSABLE.has(el.tagName) || el.hasAttribute("tabindex")) shield(el);
  if (el instanceof HTMLButtonElement && !("type" in rest)) el.type = "button";
  el.append(...children.filter((child) => child !== null));
  return el;
}

const PATHS = {
  user: "M8 8.2a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-5.2 5.6c.3-2.6 2.5-4 5.2-4s4.9 1.4 5.2 4",
  group: "M6 7.6a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8Zm-4.4 5.6c.2-2.3 2.1-3.6 4.4-3.6s4.2 1.3 4.4 3.6M10.6 7.4a2 2 0 1 0-.6-3.9m2 6.2c1.5.4 2.4 1.6 2.6 3.3",
  globe: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2 1.8 2.6 3.8 2.6 6S10 12.2 8 14C6 12.2 5.4 10.2 5.4 8S6 3.8 8 2Z",
  agent: "M4.2 6h7.6a1.2 1.2 0 0 1 1.2 1.2v4.6a1.2 1.2 0 0 1-1.2 1.2H4.2A1.2 1.2 0 0 1 3 11.8V7.2A1.2 1.2 0 0 1 4.2 6ZM8 6V3m-2.2 6v1m4.4-1v1M8 2.6a.4.4 0 1 0 0 .8.4.4 0 0 0 0-.8Z",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3.3-1.2L13.5 13.5",
  plus: "M8 3v10M3 8h10",
  pin: "M6 2.5h4l-.5 4 2 2.2h-7l2-2.2-.5-4ZM8 8.7v5",
  down: "M4.5 6.5 8 10l3.5-3.5",
  back: "M9.5 4 5.5 8l4 4",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3.5 8.5l3 3 6-7",
  history: "M2.8 8a5.2 5.2 0 1 0 1.7-3.9M2.5 2.5v2.8h2.8M8 5.2V8l2 1.4",
  trash: "M3 4.5h10M6.5 4.3V3h3v1.3M4.3 4.5l.6 8.5h6.2l.6-8.5M6.8 7v3.8M9.2 7v3.8",
  eye: "M1.5 8S3.8 3.8 8 3.8 14.5 8 14.5 8 12.2 12.2 8 12.2 1.5 8 1.5 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  columns: "M2.5 3.5h11v9h-11zM8 3.5v9",
  alert: "M8 2.2 14.3 13H1.7L8 2.2ZM8 6.5v3.2m0 1.5v.3",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-6.5V11M8 5v.3",
  note: "M4 2.5h5.5L12.5 5.5v8H4zM9.5 2.5v3h3M6 8h4.5M6 10.5h4.5",
  picture: "M2.5 3.5h11v9h-11zM2.5 11l3.5-3.5 2.5 2.5 2-2 3 3M10.5 6.6a.6.6 0 1 0 0-1.2.6.6 0 0 0 0 1.2Z",
  inbox: "M2.5 9.5 4.5 3h7l2 6.5v3.5h-11zM2.5 9.5h3l1 1.6h3l1-1.6h3",
  replace: "M2.5 5.5h8.5M8.5 3l2.5 2.5L8.5 8M13.5 10.5H5M7.5 8 5 10.5 7.5 13",
  groups: "M2.5 3.5h11M4.5 6.5h9M4.5 9h9M2.5 12.5h11",
  up: "M4.5 9.5 8 6l3.5 3.5",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  grip: "M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01",
} as const;

export type IconName = keyof typeof PATHS;

const drawn = new Map<IconName, SVGSVGElement>();

/** A 16 × 16 line drawing, hidden from readers: the text beside it speaks. */
export function icon(name: IconName): SVGSVGElement {
  const known = drawn.get(name) ?? draw(name); // every row has some, and a copy is quicker than a new one
  drawn.set(name, known);
  return known.cloneNode(true) as SVGSVGElement;
}

function draw(name: IconName): SVGSVGElement {
  const NS = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `msdk-icon msdk-icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("focusable", "false");
  const path = document.createElementNS(NS, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/**
 * Makes `nodes` the children of `parent`, in this order, and moves as few as can be: a node that is put in anew loses its
 * focus, its slide, and the click that has begun on it.
 */
export function arrange(parent: HTMLElement, nodes: HTMLElement[]): void {
  const keep = new Set<Element>(nodes);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  nodes.forEach((node, i) => {
    const there = parent.children[i];
    if (there === node) return;
    if (there && there.nextSibling === node) parent.append(there);
    else parent.insertBefore(node, there ?? null);
  });
}

/**
 * Makes the children of `parent` look like `next`, and replaces no node that can stay: a click that begins on a node and
 * ends on another in its place is no click. Listeners of `next` do not come along.
 */
export function refill(parent: Element, next: (Node | string)[]): void {
  const there = [...parent.childNodes];
  next.forEach((each, i) => {
    const old = there[i];
    const now = typeof each === "string" ? document.createTextNode(each) : each;
    if (!old) parent.append(now);
    else if (old.nodeName !== now.nodeName) old.replaceWith(now);
    else if (old instanceof Element && now instanceof Element) resemble(old, now);
    else if (old.nodeValue !== now.nodeValue) old.nodeValue = now.nodeValue;
  });
  for (const old of there.slice(next.length)) old.remove();
}

function resemble(el: Element, next: Element): void {
  for (const name of el.getAttributeNames()) if (!next.hasAttribute(name)) el.removeAttribute(name);
  for (const name of next.getAttributeNames()) {
    const value = next.getAttribute(name) ?? "";
    if (el.getAttribute(name) !== value) el.setAttribute(name, value);
  }
  refill(el, [...next.childNodes]);
}

/** A small button with a picture and a word; in a narrow output only the picture shows. */
export function tool(picture: IconName, name: string, run: () => void): HTMLButtonElement {
  return h("button", { className: "msdk-toggle", title: name, on: { click: run } }, icon(picture), h("span", { className: "msdk-word" }, name));
}

/** A tool that stays pressed. */
export function toggle(picture: IconName, name: string, run: () => void): HTMLButtonElement {
  const button = tool(picture, name, run);
  button.setAttribute("aria-pressed", "false");
  return button;
}

let counter = 0;
/** An id that no other element of the page has. */
export function uid(stem: string): string {
  counter += 1;
  return `msdk-${stem}-${counter}-${Math.random().toString(36).slice(2, 8)}`;
}

/** A key that nothing else has, in whatever page. */
export function newKey(): string {
  return Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 10)).join("-");
}

/** True for Ctrl (or ⌘) without Alt. */
export function command(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && !event.altKey;
}
