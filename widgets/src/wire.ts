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
}

/** A whole memory, as the editor opens it. `derived` says that nobody wrote the summary. */
export interface Doc extends Row {
  content: string;
  derived: boolean;
}

/** A window of the list. `total` counts what the filter and the search let through, `all` the whole shelf. */
export interface Window {
  offset: number;
  rows: Row[];
  total: number;
  all: number;
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

/** What changed since the last look. `more` says that `ids` is cut short: anything may have changed. */
export interface Changes {
  seq: number;
  ids: string[];
  more: boolean;
}

/** The traits the kernel shows the page. The page never writes them. */
export interface Traits {
  principal_id: number;
  agent_id: number | null;
  filter: string | null;
  selected: string | null;
  dirty: boolean;
  revision: number;
}
