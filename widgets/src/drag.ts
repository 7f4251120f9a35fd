/** What a drag needs of the list it happens in. */
export interface Lane {
  /** The element that scrolls. */
  view: HTMLElement;
  /** Height of a row in px. */
  row: number;
  /** First and last line that the row may land on. */
  bounds: (from: number) => [number, number];
  /** The row `from` hangs at `top` px and would land on `to`. */
  hover: (from: number, to: number, top: number) => void;
  /** The drag is over. `to` is undefined when it was called off. */
  drop: (from: number, to: number | undefined) => void;
}

/** px a pointer may wander before a press becomes a drag. */
const SLACK = 4;
/** Depth of the zone at both ends in which the list scrolls by itself, and its speed in px a frame. */
const EDGE = 36;
const SPEED = 14;

/**
 * Follows the pointer from a press on row `from` until it is let go. Answers a function that calls it off. Touch starts
 * on the grip only, so that a finger elsewhere still scrolls.
 */
export function drag(lane: Lane, press: PointerEvent, from: number): () => void {
  const { view, row } = lane;
  const stop = new AbortController();
  const { signal } = stop;
  const inside = (y: number) => y - view.getBoundingClientRect().top + view.scrollTop;
  const hold = inside(press.clientY) - from * row;
  let y = press.clientY;
  let to = from;
  let moving = false;
  let frame = 0;

  const place = () => {
    const [first, last] = lane.bounds(from);
    const top = Math.max(first * row, Math.min(last * row, inside(y) - hold));
    to = Math.max(first, Math.min(last, Math.floor((top + row / 2) / row)));
    lane.hover(from, to, top);
  };
  const scroll = () => {
    const box = view.getBoundingClientRect();
    const pull = y < box.top + EDGE ? -SPEED : y > box.bottom - EDGE ? SPEED : 0;
    if (pull) {
      view.scrollTop += pull;
      place();
    }
    frame = requestAnimationFrame(scroll);
  };
  const end = (landed: boolean) => {
    cancelAnimationFrame(frame);
    stop.abort();
    if (!moving) return;
    // The click that ends a drag must not open the row under the pointer.
    const swallow = (event: Event) => event.stopPropagation();
    view.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => view.removeEventListener("click", swallow, { capture: true }));
    lane.drop(from, landed ? to : undefined);
  };

  window.addEventListener(
    "pointermove",
    (event) => {
      if (event.pointerId !== press.pointerId) return;
      y = event.clientY;
      if (!moving && Math.abs(y - press.clientY) < SLACK) return;
      if (!moving) frame = requestAnimationFrame(scroll);
      moving = true;
      event.preventDefault();
      place();
    },
    { signal },
  );
  window.addEventListener("pointerup", (event) => event.pointerId === press.pointerId && end(true), { signal });
  window.addEventListener("pointercancel", () => end(false), { signal });
  window.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      end(false);
    },
    { signal, capture: true },
  );
  return () => end(false);
}
