/** How a type is called on a badge, and the hue that marks it. What its chip says comes from the vocabulary. */
interface Mark {
  badge: string;
  hue: number;
}

const KNOWN: Record<string, Mark> = {
  plan: { badge: "Plan", hue: 258 },
  documentation: { badge: "Doc", hue: 165 },
  examples: { badge: "Ex.", hue: 70 },
  context: { badge: "Ctx", hue: 310 },
  preference: { badge: "Pref.", hue: 350 },
  constraint: { badge: "Limit", hue: 25 },
  fact: { badge: "Fact", hue: 225 },
  workflow: { badge: "Flow", hue: 125 },
};

/** The mark of a type; one declared in code gets its own name, and a hue that is always the same. */
export function mark(type: string): Mark {
  const known = KNOWN[type];
  if (known) return known;
  let hash = 7;
  for (const char of type) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 360;
  const title = titled(type);
  return { badge: title.length > 9 ? `${title.slice(0, 8)}…` : title, hue: hash };
}

/** "release_note" as "Release note". */
export function titled(type: string): string {
  return type.charAt(0).toUpperCase() + type.slice(1).replaceAll("_", " ");
}

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
const LONG = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "2h ago" for the last week, the date before that. */
export function ago(iso: string, now = Date.now()): string {
  const at = new Date(iso);
  const seconds = (now - at.getTime()) / 1000;
  if (Number.isNaN(seconds)) return "";
  if (seconds < 7 * 86_400) {
    for (const [unit, size] of STEPS) {
      if (seconds >= size) return RELATIVE.format(-Math.floor(seconds / size), unit);
    }
    return "now";
  }
  const sameYear = at.getFullYear() === new Date(now).getFullYear();
  return at.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...(sameYear ? {} : { year: "numeric" }) });
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "medium" });

/** The moment in full, as the person's browser writes it. */
export function moment(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? "" : MOMENT.format(at);
}

/** "expires in 3 days". */
export function until(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  if (Number.isNaN(seconds)) return "";
  const [unit, size] = STEPS.find(([, size]) => seconds >= size) ?? (["minute", 60] as const);
  return seconds <= 0 ? "expired" : `expires ${LONG.format(Math.max(1, Math.floor(seconds / size)), unit)}`;
}

/** Who did something, as people say it: "user:alice" is alice, "agent:writer" is writer (agent). */
export function who(actor: string): string {
  return actor.replace(/^user:/, "").replace(/^agent:(.*)$/s, "$1 (agent)");
}

/** "1 memory", "1,204 memories". */
export function count(n: number, one = "memory", many = "memories"): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}
