"""Write what a release is made of, in CycloneDX.

Usage: sbom.py [FILE]    (FILE is dist/sbom.cdx.json when left out)

Python packages come from the runtime lock, with every hash; those of the browser half are what its
lock names, since they are bundled into it. No address is written and no clock asked, so the same
locks give the same bytes.
"""

import base64
import json
import re
import sys
import tomllib
from pathlib import Path

LOCK = Path("requirements/runtime.txt")
BROWSER_LOCK = Path("widgets/package-lock.json")
BUNDLED = ("@codemirror/", "@lezer/", "@marijn/", "crelt", "style-mod", "w3c-keyname")
"""What the build puts into the bundles; the rest of the lock only builds and tests them."""


def main(arguments: list[str]) -> None:
    """Write the file and say how much it lists."""
    target = Path(arguments[0]) if arguments else Path("dist/sbom.cdx.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(sbom(), indent=2)
    target.write_text(text + "\n", "utf-8")
    print(f"{target}: {text.count('bom-ref')} components")


def sbom() -> dict[str, object]:
    """Return the bill of materials."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    name, version = project["name"], project["version"]
    released = {"type": "library", "name": name, "version": version}
    about = {"component": released | {"purl": f"pkg:pypi/{name}@{version}"}}
    components = [*of_python(LOCK.read_text("utf-8")), *of_browser(BROWSER_LOCK.read_text("utf-8"))]
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}
    return head | {"metadata": about, "components": components}


def of_python(text: str) -> list[dict[str, object]]:
    """Return the packages of a lock of pip's form."""
    found = []
    for block in re.split(r"\n(?=\S)", text):
        if match := re.match(r"([\w.-]+)==([^\s;\\]+)", block):
            name, version = match.groups()
            hashes = [
                {"alg": "SHA-256", "content": it}
                for it in re.findall(r"sha256:([0-9a-f]{64})", block)
            ]
            found.append(component(f"pkg:pypi/{name}@{version}", name, version, hashes))
    return found


def of_browser(text: str) -> list[dict[str, object]]:
    """Return the packages that stand in the bundles, from a lock of npm's form."""
    found = []
    for path, entry in json.loads(text)["packages"].items():
        name = path.removeprefix("node_modules/")
        if name.startswith(BUNDLED):
            digest = base64.b64decode(entry["integrity"].removeprefix("sha512-")).hex()
            purl = f"pkg:npm/{name.replace('@', '%40', 1)}@{entry['version']}"
            hashes = [{"alg": "SHA-512", "content": digest}]
            found.append(component(purl, name, entry["version"], hashes))
    return found


def component(
    purl: str, name: str, version: str, hashes: list[dict[str, str]]
) -> dict[str, object]:
    """Return one component."""
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "hashes": hashes,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
