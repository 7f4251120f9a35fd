import type { Desk } from "./desk.ts";
import { count } from "./labels.ts";
import type { Outcome } from "./wire.ts";

/** Files sent in one request, files taken at once, and bytes of the largest. */
const BATCH = 50;
const MOST = 2_000;
const LARGEST = 1024 * 1024;

interface TextFile {
  path: string;
  text: string;
}

/** Lets markdown files and folders of them be dropped on `target`: each file becomes a memory of the open shelf. */
export function takeFolders(desk: Desk, target: HTMLElement): void {
  const over = (on: boolean) => target.classList.toggle("msdk-over-file", on);
  target.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  target.addEventListener("dragleave", () => over(false));
  target.addEventListener("drop", (event) => {
    over(false);
    const items = [...(event.dataTransfer?.items ?? [])].filter(({ kind }) => kind === "file");
    if (!items.length) return;
    event.preventDefault();
    // The entries must be asked for before the event is over.
    const entries = items.map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
    void importAll(desk, entries);
  });
}

async function importAll(desk: Desk, entries: FileSystemEntry[]): Promise<void> {
  const files: TextFile[] = [];
  const refused: string[] = [];
  for (const entry of entries) await collect(entry, files, refused);
  if (!files.length && !refused.length) {
    return desk.notify({ kind: "info", text: "Nothing to import: no file there ends in .md, .markdown or .txt." });
  }
  const done: string[] = [];
  for (let at = 0; at < files.length; at += BATCH) {
    if (files.length > BATCH) desk.notify({ kind: "info", text: `Importing ${at.toLocaleString("en")} of ${count(files.length, "file", "files")}…` });
    const batch = { files: files.slice(at, at + BATCH), type: desk.trait("filter") ?? "context" };
    const outcome = await desk.attempt<Outcome>("take_in", batch);
    if (!outcome) break;
    done.push(...outcome.done);
    refused.push(...outcome.refused);
  }
  desk.tell("data", { ids: done, more: true });
  const more = refused.length > 3 ? [`… and ${count(refused.length - 3, "file", "files")} more.`] : [];
  desk.notify({
    kind: refused.length ? "error" : "done",
    text: [`${count(done.length)} imported.`, ...refused.slice(0, 3), ...more].join(" "),
    ...(done.length ? { actions: [{ text: "Undo", run: () => void takeOut(desk, done) }] } : {}),
  });
}

async function takeOut(desk: Desk, ids: string[]): Promise<void> {
  const outcome = await desk.change("remove", ids.map((id) => ({ id, version: 1 })));
  if (outcome) desk.say(`${count(outcome.done.length)} taken out again.`);
}

/** Reads the text files of a folder and of those inside it, by path. */
async function collect(entry: FileSystemEntry, files: TextFile[], refused: string[]): Promise<void> {
  if (entry.name.startsWith(".") || files.length >= MOST) return;
  if (entry.isDirectory) {
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    const inside: FileSystemEntry[] = [];
    for (;;) {
      // A browser answers a large folder in parts.
      const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (!part.length) break;
      inside.push(...part);
    }
    inside.sort((one, other) => (one.name < other.name ? -1 : 1));
    for (const each of inside) await collect(each, files, refused);
  } else if (/\.(md|markdown|txt)$/i.test(entry.name)) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    if (file.size > LARGEST) refused.push(`${entry.fullPath}: it is larger than 1 MiB.`);
    else files.push({ path: entry.fullPath, text: await file.text() });
  }
}
