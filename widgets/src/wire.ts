/** One memory as a list shows it; never its body. */
export interface Row {
  id: string;
  name: string;
  type: string;
  summary: string;
  tags: string[];
  pinned: boolean;
  updated: string;
  version: number;
  /** The passage of the body that a search found. */
  found?: string | null;
}

/** A whole memory, as the editor opens it. `derived` says that nobody wrote the summary. */
export interface Doc extends Row {
  content: string;
  derived: boolean;
}

/** The line above the memories of one type. */
export interface Heading {
  id: string;
  heading: string;
  label: string;
  count: number;
}

export type Line = Row | Heading;

/** Where a group stands: its heading on line `start`, its memories on the `count` lines after. */
export interface Group {
  type: string;
  start: number;
  count: number;
}

/**
 * A window of the list. `length` counts its lines, `total` the memories that match, `all` those of the shelf.
 */
export interface Window {
  offset: number;
  rows: Line[];
  length: number;
  total: number;
  all: number;
  groups: Group[];
  /** The order is that of a search, in which nothing can be moved. */
  ranked: boolean;
}

/** A memory as a change of many names it: with the version that the person saw. */
export interface Item {
  id: string;
  version: number;
}

/** What a change of many did. */
export interface Outcome {
  done: string[];
  refused: string[];
  /** Of each that is still there, the version that the change led to. */
  versions?: Record<string, number>;
}

/** A shelf that memories can be moved to. */
export interface ShelfName {
  principal_id: number;
  agent_id: number | null;
  name: string;
}

/** One type of the vocabulary: its plural, how many memories have it, how long a body of it may be. */
export interface TypeCount {
  name: string;
  label: string;
  count: number;
  limit: number;
  unit: "bytes" | "characters";
}

export interface Types {
  types: TypeCount[];
  all: number;
}

export interface Principal {
  id: number;
  kind: "user" | "group";
  name: string;
  own: boolean;
}

export interface Agent {
  id: number;
  name: string;
}

/** Every shelf the caller may open: principals, and the agents of the chosen one. */
export interface Places {
  principals: Principal[];
  agents: Agent[];
}

/**
 * What changed since the last look. `more` says that `ids` is cut short: anything may have changed. `pushed` says that the
 * kernel tells of the next change by itself.
 */
export interface Changes {
  pushed: boolean;
  seq: number;
  ids: string[];
  more: boolean;
  /** Requests that wait for this person; only the panel is told. */
  waiting?: number;
}

/** What an agent asks a person for. `preview` begins with the shelf; then come the lines that change. */
export interface Asked {
  id: string;
  actor: string;
  description: string;
  preview: string;
  at: string;
  until: string;
}

/** What was typed and not saved: the memory and version it stands on, and the fields of the form. */
export interface Typed {
  memory_id: string | null;
  version: number | null;
  fields: { name: string; type: string; summary: string; tags: string[]; content: string };
}

/** A draft that the kernel keeps, without its body. */
export interface Kept {
  key: string;
  name: string;
  at: string;
}

/** The drafts of this person on this shelf. `place` names the two, in whatever kernel. */
export interface Unsaved {
  place: string;
  drafts: Kept[];
}

/** A rendered body. `pictures` has the id of each picture by the address of its stand-in. */
export interface Rendered {
  html: string;
  pictures: Record<string, string>;
}

/** A picture, whose bytes came beside the answer. */
export interface Picture {
  media_type: string;
  bytes: DataView<ArrayBuffer>;
}

/** The traits the kernel shows the page. The page never writes them. */
export interface Traits {
  principal_id: number;
  agent_id: number | null;
  filter: string | null;
  grouped: boolean;
  selected: string | null;
  dirty: boolean;
  revision: number;
}

/** One change of a memory. `version` is the one it led to. */
export interface Revision {
  id: string;
  version: number;
  action: string;
  actor: string;
  source: string | null;
  at: string;
  name: string;
  type: string;
}
