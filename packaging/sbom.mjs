// Makes a CycloneDX bill of materials from `cargo metadata` on stdin: what is linked into the program, nothing else.
// Usage: sbom.mjs VERSION SECONDS
import { readFileSync } from "node:fs";

const [version, seconds] = process.argv.slice(2);
const metadata = JSON.parse(readFileSync(0, "utf8"));
const packages = new Map(metadata.packages.map((found) => [found.id, found]));
const nodes = new Map(metadata.resolve.nodes.map((found) => [found.id, found]));
const root = metadata.packages.find((found) => found.name === "leftoff").id;

// Dependencies of tests and of build scripts end up in no program.
const linked = (id) =>
  nodes.get(id).deps.filter((dep) => dep.dep_kinds.some((kind) => kind.kind === null)).map((dep) => dep.pkg);
const reached = new Set([root]);
for (const id of reached) linked(id).forEach((dep) => reached.add(dep));

const reference = (id) => {
  const { name, version } = packages.get(id);
  return `pkg:cargo/${name}@${version}`;
};
const component = (id) => {
  const found = packages.get(id);
  return {
    type: id === root ? "application" : "library",
    "bom-ref": reference(id),
    name: found.name,
    version: found.version,
    purl: reference(id),
    licenses: found.license ? [{ expression: found.license.replaceAll("/", " OR ") }] : [],
  };
};
// SQLite comes as C inside a crate, which names its version in its own.
const bundled = metadata.packages.find((found) => found.name === "libsqlite3-sys");
const sqlite = {
  type: "library",
  "bom-ref": "sqlite-amalgamation",
  name: "sqlite",
  description: `bundled by libsqlite3-sys ${bundled.version}`,
  licenses: [{ license: { name: "Public Domain" } }],
};
const ids = [...reached].sort((one, other) => (reference(one) < reference(other) ? -1 : 1));
const bom = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: {
    timestamp: new Date(Number(seconds) * 1000).toISOString(),
    component: { ...component(root), version },
  },
  components: [...ids.filter((id) => id !== root).map(component), sqlite],
  dependencies: ids.map((id) => ({
    ref: reference(id),
    dependsOn: [...linked(id).map(reference), ...(id === bundled.id ? [sqlite["bom-ref"]] : [])].sort(),
  })),
};
console.log(JSON.stringify(bom, null, 2));
