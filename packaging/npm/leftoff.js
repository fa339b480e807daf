#!/usr/bin/env node
// Runs the program of this platform, which npm installed beside this package. Passes arguments, stdin, stdout, stderr, the
// exit code and signals through, and does nothing else.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `leftoff-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${platform}/bin/leftoff`);
} catch {
  console.error(`error: the package ${platform} with the program for this platform is not installed`);
  console.error("hint: install leftoff again without --omit=optional; if no such package exists, build the program from source");
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: ${program} cannot be run: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
