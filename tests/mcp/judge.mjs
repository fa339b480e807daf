// Compares the findings of the conformance suite with the list of checks that do not apply.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [results, listPath] = process.argv.slice(2);
const excused = new Set(
  readFileSync(listPath, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line) => line.slice(2).trim()),
);
const failing = new Map();
const passing = new Map();
for (const revision of readdirSync(results)) {
  for (const run of readdirSync(join(results, revision))) {
    const checks = JSON.parse(readFileSync(join(results, revision, run, "checks.json"), "utf8"));
    for (const check of checks) {
      const place = `${revision} ${run.replace(/^server-/, "").replace(/-20\d\d-.*$/, "")}`;
      if (check.status === "FAILURE") failing.set(check.id, `${place}: ${check.errorMessage ?? check.description}`);
      if (check.status === "SUCCESS") passing.set(revision, (passing.get(revision) ?? 0) + 1);
    }
  }
}
const unexpected = [...failing.keys()].filter((id) => !excused.has(id));
const stale = [...excused].filter((id) => !failing.has(id));
for (const id of unexpected) console.error(`FAILED ${id}\n  ${failing.get(id)}`);
for (const id of stale) console.error(`no longer fails, take it out of not-applicable.txt: ${id}`);
for (const revision of ["2025-11-25", "2026-07-28"]) {
  if ((passing.get(revision) ?? 0) < 30) unexpected.push(`only ${passing.get(revision) ?? 0} checks of ${revision} ran`);
  console.log(`conformance ${revision}: ${passing.get(revision) ?? 0} checks passed`);
}
console.log(`${failing.size} checks do not apply, see not-applicable.txt`);
process.exit(unexpected.length + stale.length > 0 ? 1 : 0);
