import { h } from "./dom.ts";

export interface Choice<T> {
  value: T;
  content: (Node | string)[];
  chosen: boolean;
  title?: string;
  disabled?: boolean;
}

/**
 * A radio group of buttons: one stop for Tab, arrows choose. `pick` also hears of the choice that is already chosen
 * when it is clicked again.
 */
export function radios<T>(group: HTMLElement, choices: Choice<T>[], pick: (value: T, again: boolean) => void): HTMLButtonElement[] {
  const held = group.contains(document.activeElement);
  const open = choices.filter((choice) => !choice.disabled);
  const stop = open.find((choice) => choice.chosen) ?? open[0];
  const buttons = choices.map((choice) => {
    const button = h(
      "button",
      {
        className: "msdk-radio",
        role: "radio",
        tabIndex: choice === stop ? 0 : -1,
        aria: { checked: String(choice.chosen), ...(choice.disabled ? { disabled: "true" } : {}) },
        on: { click: () => (choice.disabled ? undefined : pick(choice.value, choice.chosen)) },
      },
      ...choice.content,
    );
    if (choice.title) button.title = choice.title;
    return button;
  });
  group.replaceChildren(...buttons);
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
