import { h, icon, shield, uid } from "./dom.ts";

interface Entry {
  text: string;
  picture: Parameters<typeof icon>[0];
  danger?: boolean;
  run: () => void;
}

/** A button that opens a menu: arrows choose, Enter does it, Escape closes. */
export function menu(name: string, entries: Entry[]): HTMLElement {
  const button = h("button", { className: "msdk-icon-button msdk-group", title: name, aria: { label: name, haspopup: "menu", expanded: "false" } }, icon("more"));
  const items = entries.map(({ text, picture, danger, run }) =>
    h(
      "li",
      { role: "menuitem", tabIndex: -1, className: danger ? "msdk-danger" : "", on: { click: () => (close(true), run()) } },
      icon(picture),
      text,
    ),
  );
  const list = shield(h("ul", { className: "msdk-menu", id: uid("menu"), role: "menu", hidden: true, aria: { label: name } }, ...items));
  const close = (back: boolean) => {
    list.hidden = true;
    button.setAttribute("aria-expanded", "false");
    if (back) button.focus();
  };
  button.addEventListener("click", () => {
    list.hidden = !list.hidden;
    button.setAttribute("aria-expanded", String(!list.hidden));
    items[0]?.focus();
  });
  list.addEventListener("keydown", (event) => {
    const at = items.indexOf(document.activeElement as HTMLLIElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) items[(at + step + items.length) % items.length]?.focus();
    else if (event.key === "Enter" || event.key === " ") items[at]?.click();
    else if (event.key === "Escape") close(true);
    else return;
    event.preventDefault();
  });
  const box = h("div", { className: "msdk-menu-box" }, button, list);
  box.addEventListener("focusout", (event) => {
    if (!box.contains(event.relatedTarget as Node | null)) close(false);
  });
  return box;
}
