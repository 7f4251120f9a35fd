import { Desk, type Mount } from "./desk.ts";
import { h } from "./dom.ts";
import { Drawer } from "./drawer.ts";
import { rerunCells } from "./marimo.ts";
import { MarkdownEditor } from "./markdown_editor.ts";
import { MemoryList } from "./memory_list.ts";
import { MemoryPanel } from "./memory_panel.ts";
import { PrincipalPicker } from "./principal_picker.ts";
import { ScopeSwitch } from "./scope_switch.ts";
import { searchBox } from "./search_box.ts";
import css from "./style.css";
import { TypeFilter } from "./type_filter.ts";
import type { Places, Types } from "./wire.ts";

/** Draws the widget of that name into its output. */
export function mount(mounting: Mount): void {
  const desk = new Desk(mounting);
  dress(desk);
  rerunCells(desk);
  const part = PARTS[mounting.widget];
  if (part) desk.root.append(part(desk));
  else desk.notify({ kind: "error", text: `This page knows no widget ${mounting.widget}.`, suggestion: "Run the cell again." });
}

const PARTS: Record<string, (desk: Desk) => HTMLElement> = {
  MemoryPanel: (desk) => new MemoryPanel(desk).el,
  PrincipalPicker: (desk) => {
    const picker = new PrincipalPicker(desk);
    const scope = new ScopeSwitch(desk);
    const load = async () => {
      const places = await desk.attempt<Places>("places");
      if (places) for (const part of [picker, scope]) part.show(places);
    };
    desk.on("place", () => void load());
    void load();
    return card("msdk-head", picker.el, scope.el);
  },
  TypeFilter: (desk) => {
    const filter = new TypeFilter(desk);
    desk.watch();
    void filter.load();
    return card("msdk-tools", filter.el, filter.groupButton);
  },
  MemoryList: (desk) => {
    const list = new MemoryList(desk);
    desk.watch();
    void list.refresh();
    return card("msdk-alone", h("div", { className: "msdk-tools" }, searchBox(desk)), list.el);
  },
  MarkdownEditor: (desk) => {
    const editor: MarkdownEditor = new MarkdownEditor(desk, new Drawer(() => editor.fit()));
    desk.guardWith(() => editor.mayLeave());
    void desk.attempt<Types>("types").then((types) => types && editor.offer(types.types));
    desk.watch();
    void editor.open(desk.trait("selected"));
    const create = h("button", { className: "msdk-button msdk-new", on: { click: () => void editor.create() } }, "New memory");
    return card("msdk-alone", h("div", { className: "msdk-tools" }, create), editor.el);
  },
};

function card(className: string, ...children: HTMLElement[]): HTMLElement {
  return h("div", { className: `msdk-panel ${className}-card` }, ...(className === "msdk-alone" ? children : [h("div", { className }, ...children)]));
}

const sheets = new WeakMap<Document | ShadowRoot, CSSStyleSheet>();

/** Gives the tree that the widget lives in its style sheet, once. */
function adopt(tree: Document | ShadowRoot): void {
  if (sheets.has(tree)) return;
  const view = (tree.ownerDocument ?? (tree as Document)).defaultView ?? window;
  const sheet = new view.CSSStyleSheet();
  sheet.replaceSync(css);
  sheets.set(tree, sheet);
  tree.adoptedStyleSheets = [...tree.adoptedStyleSheets, sheet];
}

function dress(desk: Desk): void {
  adopt(document);
  // Some hosts (marimo) keep outputs in a shadow root, and the output is in no tree yet while it is drawn.
  const settle = new ResizeObserver(() => {
    const tree = desk.root.getRootNode();
    if (tree instanceof ShadowRoot) adopt(tree);
    if (desk.root.isConnected) settle.disconnect();
  });
  settle.observe(desk.root);
  desk.signal.addEventListener("abort", () => settle.disconnect());
}
