import { Approvals } from "./approvals.ts";
import { askToClear } from "./clear_all.ts";
import type { Desk } from "./desk.ts";
import { h, icon } from "./dom.ts";
import { Drawer } from "./drawer.ts";
import { showDeleted } from "./history.ts";
import { MarkdownEditor } from "./markdown_editor.ts";
import { MemoryList } from "./memory_list.ts";
import { menu } from "./menu.ts";
import { PrincipalPicker } from "./principal_picker.ts";
import { ScopeSwitch } from "./scope_switch.ts";
import { searchBox } from "./search_box.ts";
import { TypeFilter } from "./type_filter.ts";
import type { Places } from "./wire.ts";

/** The parts wired together: who acts, which shelf, which types, the list and the editor. */
export class MemoryPanel {
  readonly el: HTMLElement;
  readonly #desk: Desk;
  readonly #picker: PrincipalPicker;
  readonly #scope: ScopeSwitch;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#picker = new PrincipalPicker(desk);
    this.#scope = new ScopeSwitch(desk);
    const drawer = new Drawer(() => editor.fit());
    const editor: MarkdownEditor = new MarkdownEditor(desk, drawer);
    const create = () => void editor.create();
    const approvals = new Approvals(desk, drawer);
    const filter = new TypeFilter(desk, (types) => editor.offer(types));
    const list = new MemoryList(desk, create);
    desk.guardWith(() => editor.mayLeave());
    editor.onGone = () => list.focus();
    editor.onLeave = () =>
      void desk.mayLeave().then(async (may) => {
        if (!may) return;
        desk.tell("selected", null);
        await desk.attempt("select", { id: null });
        list.focus();
      });
    this.el = h(
      "div",
      { className: "msdk-panel" },
      h("div", { className: "msdk-head" }, this.#picker.el, this.#scope.el),
      h(
        "div",
        { className: "msdk-tools" },
        filter.el,
        filter.groupButton,
        searchBox(desk),
        approvals.button,
        menu("More", [
          { text: "Approvals", picture: "inbox", run: () => void approvals.open() },
          { text: "Recently deleted", picture: "history", run: () => void showDeleted(desk, drawer, (id) => void desk.attempt("select", { id })) },
          { text: "Clear all…", picture: "trash", danger: true, run: () => void askToClear(desk, drawer) },
        ]),
        h("button", { className: "msdk-button msdk-primary msdk-new", on: { click: create } }, icon("plus"), "New memory"),
      ),
      h("div", { className: "msdk-main" }, list.el, editor.el),
    );
    desk.on("place", () => void this.#places());
    desk.on("refused", () => void this.#places());
    desk.watch();
    void this.#places();
    void filter.load();
    void list.refresh().then(() => desk.tell("selected", desk.trait("selected")));
  }

  async #places(): Promise<void> {
    const places = await this.#desk.attempt<Places>("places");
    if (!places) return;
    this.#picker.show(places);
    this.#scope.show(places);
  }
}
