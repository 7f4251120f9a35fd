// Bundles src/ into the Python package and writes the manifest that tells whether the bundles are fresh.
//   node build.mjs          writes the bundles
//   node build.mjs --check  builds in memory and fails when a committed bundle differs by one byte
import { build, transform } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "../src/memories_sdk/widgets/static");
const ENTRIES = ["shell", "ui", "codemirror"];
/** Bytes: the shell is stored in every saved notebook, the rest crosses the comm once a page. */
const LIMITS = { shell: 8_000, gzipped: 200_000 };

/** The style sheet travels inside the ui bundle as text, so it is minified here. */
const styles = {
  name: "styles",
  setup(on) {
    on.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    });
  },
};

/** lang-markdown pulls in the HTML, CSS and JavaScript grammars; without them the bundle loses a third. */
const noHtmlGrammar = {
  name: "no-html-grammar",
  setup(on) {
    on.onResolve({ filter: /^@codemirror\/lang-html$/ }, () => ({ path: "none", namespace: "none" }));
    on.onLoad({ filter: /.*/, namespace: "none" }, () => ({
      resolveDir: HERE,
      contents: `
        import { parser } from "@lezer/markdown";
        export const html = () => ({ language: { parser, configure() { return this; } }, support: [] });
        export const htmlCompletionSource = () => null;`,
    }));
  },
};

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Digest over everything a bundle is made of: names and contents, in byte order of the names. */
function sourcesDigest() {
  const names = ["build.mjs", "package-lock.json", ...readdirSync(join(HERE, "src")).map((n) => `src/${n}`)].sort();
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name}\0${sha256(readFileSync(join(HERE, name)))}\n`);
  return hash.digest("hex");
}

const result = await build({
  entryPoints: ENTRIES.map((name) => join(HERE, `src/${name}.ts`)),
  absWorkingDir: HERE,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  outdir: OUT,
  write: false,
  plugins: [styles, noHtmlGrammar],
  logLevel: "warning",
});

const bundles = Object.fromEntries(
  result.outputFiles.map((f) => [f.path.slice(OUT.length + 1), Buffer.from(f.contents)]),
);
const manifest = `${JSON.stringify(
  {
    sources: sourcesDigest(),
    bundles: Object.fromEntries(Object.entries(bundles).map(([name, bytes]) => [name, sha256(bytes)])),
  },
  null,
  2,
)}\n`;

let gzipped = 0;
for (const [name, bytes] of Object.entries(bundles)) {
  const packed = gzipSync(bytes, { level: 9 }).length;
  gzipped += packed;
  console.log(`${name.padEnd(16)} ${String(bytes.length).padStart(8)} bytes ${String(packed).padStart(8)} gzipped`);
}
const tooBig = bundles["shell.js"].length > LIMITS.shell || gzipped > LIMITS.gzipped;
if (tooBig) {
  console.error(`Over the limit: the shell may have ${LIMITS.shell} bytes, all of it ${LIMITS.gzipped} gzipped.`);
  process.exitCode = 1;
} else if (process.argv.includes("--check")) {
  for (const [name, bytes] of Object.entries({ ...bundles, "manifest.json": Buffer.from(manifest) })) {
    if (!readFileSync(join(OUT, name)).equals(bytes)) {
      console.error(`${name} is stale: run \`node build.mjs\` in widgets/ and commit the result.`);
      process.exitCode = 1;
    }
  }
} else {
  mkdirSync(OUT, { recursive: true });
  for (const [name, bytes] of Object.entries(bundles)) writeFileSync(join(OUT, name), bytes);
  writeFileSync(join(OUT, "manifest.json"), manifest);
}
