import { arrange, h, refill } from "./dom.ts";

export interface Choice<T> {
  value: T;
  content: (Node | string)[];
  chosen: boolean;
  title?: string;
  disabled?: boolean;
}

/**
 * A radio group of buttons: one stop for Tab, arrows choose. `pick` also hears of the choice that is already chosen
 * when it is clicked again. Drawn anew, a choice that stays keeps its button.
 */
export function radios<T>(group: HTMLElement, choices: Choice<T>[], pick: (value: T, again: boolean) => void): HTMLButtonElement[] {
  const held = group.contains(document.activeElement);
  const open = choices.filter((choice) => !choice.disabled);
  const stop = open.find((choice) => choice.chosen) ?? open[0];
  const known = new Map(([...group.children] as HTMLButtonElement[]).map((button) => [button.dataset["value"], button]));
  const buttons = choices.map((choice) => {
    const value = String(choice.value);
    const button = known.get(value) ?? h("button", { className: "msdk-radio", role: "radio", data: { value } });
    button.tabIndex = choice === stop ? 0 : -1;
    button.title = choice.title ?? "";
    button.setAttribute("aria-checked", String(choice.chosen));
    if (choice.disabled) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
    button.onclick = () => (choice.disabled ? undefined : pick(choice.value, choice.chosen));
    refill(button, choice.content);
    return button;
  });
  arrange(group, buttons);
  if (held) buttons[choices.findIndex((choice) => choice === stop)]?.focus();
  group.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.altKey || open.length < 2) return;
    event.preventDefault();
    const at = open.findIndex((choice) => buttons[choices.indexOf(choice)] === document.activeElement);
    const next = open[(Math.max(at, 0) + step + open.length) % open.length];
    if (!next) return;
    buttons[choices.indexOf(next)]?.focus();
    pick(next.value, next.chosen);
  };
  return buttons;
}
