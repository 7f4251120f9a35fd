// Bundles host.js with what VS Code's Jupyter extension draws widgets with, into built/.
// That package is one file; npm would install 350 MB of dependencies beside it, so its archive alone is fetched.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "built");
const RENDERER = "@vscode/jupyter-ipywidgets8@1.0.9";
const SHA512 =
  "6e87024e17dae090c80ddeea08501f5b71e9cc77d32d8c4e4e94db8837f0e035" +
  "ce5232879ebe8e6e430188892ecd83d1c9b8796d8e058582de9ae0ee4ef21ba5";

mkdirSync(OUT, { recursive: true });
const npm = ["pack", "--silent", "--pack-destination", OUT, RENDERER];
const archive = join(OUT, execFileSync("npm", npm, { encoding: "utf8" }).trim().split("\n").at(-1));
if (createHash("sha512").update(readFileSync(archive)).digest("hex") !== SHA512) throw new Error(`${RENDERER} is not what it was`);
execFileSync("tar", ["-xzf", archive, "-C", OUT]);
await build({
  entryPoints: [join(HERE, "host.js")],
  alias: { "vscode-renderer": join(OUT, "package/dist/ipywidgets.js") },
  bundle: true,
  format: "iife",
  logLevel: "error",
  outfile: join(OUT, "host.js"),
});
