// Real agents, headless, against a model on loopback: they receive the brief, are denied, are held at a stop and let
// go, and after a compaction are told what is finished. Usage: run.mjs LEFTOFF CLAUDE CODEX (a path, or - to leave out).
import { spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { serve } from "./model.mjs"

const [leftoff, claude, codex] = process.argv.slice(2)
let failures = 0

function check(what, holds, shown = "") {
  console.log(`${holds ? "ok      " : "FAILED  "}${what}`)
  if (!holds) {
    failures += 1
    if (shown) console.log(`        ${String(shown).slice(0, 3000).replaceAll("\n", "\n        ")}`)
  }
}

const WORKFLOW = `name = "ship"
hold_at_stop = true
[[phase]]
id = "plan"
purpose = "Agree on what will be built."
[[phase]]
id = "build"
  [phase.evidence]
  passed = { type = "integer", required = true }
  [[phase.check]]
  id = "all-pass"
  kind = "expr"
  expr = "evidence.passed == 2"
[[phase]]
id = "review"
`

/** What a workflow itself may require. */
const REQUIREMENT = `
[requirement.planned]
scope = "session"
tools = ["Edit", "Write"]
satisfied_by = ["phase:plan"]
message = "Write a plan first."
`

const RULES = `requirements:
  planned:
    enabled: true
    type: blocking
    scope: session
    trigger_tools: [Edit, Write]
    message: Write a plan first.
`

/** A folder outside the temporary one, which sandboxes let everybody write to. */
function world(agent) {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache")
  mkdirSync(join(cache, "leftoff"), { recursive: true })
  const base = mkdtempSync(join(cache, "leftoff", "agents-"))
  const root = join(base, "project")
  const home = join(base, "home")
  const bin = join(base, "bin")
  for (const folder of [root, home, bin, join(root, ".leftoff/workflows"), join(root, ".claude")]) mkdirSync(folder, { recursive: true })
  cpSync(leftoff, join(bin, "leftoff"))
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: home,
    USER: "anna",
    LC_ALL: "C.UTF-8",
    TMPDIR: join(base, "tmp"),
    NO_COLOR: "1",
  }
  mkdirSync(env.TMPDIR)
  const run = (...words) => {
    const ran = spawnSync(words[0], words.slice(1), { cwd: root, env, encoding: "utf8" })
    if (ran.status !== 0) throw new Error(`${words.join(" ")}: ${ran.stderr}`)
    return ran.stdout
  }
  run("git", "init", "--quiet", "--initial-branch=main")
  // A login shell, which some agents run their commands in, makes a PATH of its own.
  writeFileSync(join(home, ".profile"), `export PATH="${bin}:$PATH"\n`)
  // A sandbox protects the git folder, where the answers to the other kind of requirements are.
  writeFileSync(join(root, ".leftoff/workflows/ship.toml"), agent === "codex" ? WORKFLOW + REQUIREMENT : WORKFLOW)
  if (agent !== "codex") writeFileSync(join(root, ".claude/requirements.yaml"), RULES)
  run("leftoff", "init", "--agent", agent)
  run("leftoff", "start", "ship", "--id", "login", "--goal", "No log-out while a tab is open")
  if (agent !== "codex") run("leftoff", "advance", "--phase", "plan")
  return { base, root, home, env, run, done: () => rmSync(base, { recursive: true, force: true }) }
}

/** Runs an agent to its end; it is ended after two minutes. */
function agent(world, program, words, more = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, words, { cwd: world.root, env: { ...world.env, ...more }, stdio: ["ignore", "pipe", "pipe"] })
    let [out, err] = ["", ""]
    child.stdout.on("data", (part) => (out += part))
    child.stderr.on("data", (part) => (err += part))
    const timer = setTimeout(() => child.kill("SIGKILL"), 120_000)
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code, out, err })
    })
  })
}

/** The requests of the conversation in which something was said. */
const said = (model, text) => model.requests.filter((request) => request.main && request.body.includes(text))

/** What both agents go through. */
async function story(name, model, world, talk) {
  const file = join(world.root, "notes.txt")
  model.play([
    { write: { path: name === "codex" ? "notes.txt" : file, content: "first" } },
    { bash: name === "codex" ? "leftoff advance --phase plan" : "leftoff req satisfy planned" },
    { write: { path: name === "codex" ? "notes.txt" : file, content: "second" } },
    { bash: "leftoff advance --phase build --evidence passed=1" },
    { text: "All done." },
    { bash: "leftoff advance --phase build --evidence passed=2" },
    { text: "Really done." },
  ])
  const ran = await talk("Build it.")
  const shown = `${ran.out}\n${ran.err}`
  const first = model.requests.find((request) => request.main)?.body ?? ""
  check(`${name} receives the brief`, first.includes("Where you left off") && first.includes("session login"), shown)
  check(`${name} is told what is required`, first.includes("Required before some tools may be used"), first)
  check(`${name} is denied`, said(model, "a requirement is not satisfied").length > 0, shown)
  check(`${name} is let through when it is satisfied`, existsSync(file) && readFileSync(file, "utf8").includes("second"), shown)
  check(`${name} is held at its stop`, said(model, "Not finished yet: the gate of phase 'build' was tried").length > 0, shown)
  const status = JSON.parse(world.run("leftoff", "status", "--json"))
  check(`${name} goes on and is let go`, ran.code === 0 && status.current_phase.id === "review", JSON.stringify(status.phases, null, 1) + shown)
  const brief = JSON.parse(world.run("leftoff", "brief", "--format", "json"))
  const kept = (kind, text) => brief.activity.some((row) => row.kind === kind && `${row.what} ${row.detail ?? ""}`.includes(text))
  check(`${name}'s files and last words are kept`, kept("file", "notes.txt") && kept("words", "Really done."), JSON.stringify(brief.activity))
  const log = world.run("leftoff", "log", "--json")
  check(`${name}'s commands are recorded as its own`, log.includes(`"agent":"${name}"`) || log.includes(`"agent": "${name}"`), log)
  return ran
}

async function tryClaude() {
  const model = await serve()
  const here = world("claude")
  const env = {
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.port}`,
    ANTHROPIC_API_KEY: "dummy",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CONFIG_DIR: join(here.home, ".claude"),
  }
  const talk = (words, ...more) => agent(here, claude, ["-p", words, "--allowedTools", "Bash,Write,Edit", ...more], env)
  try {
    await story("claude", model, here, talk)
    model.play([{ text: "fine" }])
    const compacted = await talk("/compact", "--continue")
    model.play([{ text: "fine" }])
    const after = await talk("What is next?", "--continue")
    const told = said(model, "Your conversation was compacted")
    const shown = [compacted.out, compacted.err, after.out, after.err, model.requests.at(-1)?.body ?? ""].join("\n")
    check("claude is told after /compact what is finished", told.length > 0 && told[0].body.includes("Done: do not do again"), shown)
  } finally {
    model.close()
    if (failures === 0) here.done()
    else console.log(`        left for a look: ${here.base}`)
  }
}

async function tryCodex() {
  const model = await serve()
  const here = world("codex")
  const home = join(here.home, ".codex")
  const settings = readFileSync(join(home, "config.toml"), "utf8")
  // The store's folder is a writable root already: `init` put it there.
  writeFileSync(join(home, "config.toml"), `model = "gpt-5.5"\nmodel_provider = "mock"\n${settings}
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:${model.port}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[projects."${here.root}"]
trust_level = "trusted"
`)
  const words = ["--dangerously-bypass-hook-trust", "--sandbox", "workspace-write", "--skip-git-repo-check"]
  const talk = (prompt, ...more) => agent(here, codex, ["exec", ...words, ...more, prompt], { CODEX_HOME: home })
  try {
    const place = JSON.parse(here.run("leftoff", "store", "info", "--json")).place
    check("codex's store is outside the git folder", !place.includes("/.git/") && place.startsWith(here.home), place)
    await story("codex", model, here, talk)
    // A conversation that is near its end is compacted by itself.
    model.tokens = 100_000
    model.play([{ bash: "true" }, { bash: "true" }, { text: "fine" }])
    const ran = await agent(here, codex, ["exec", ...words, "-c", "model_auto_compact_token_limit=50000", "resume", "--last", "Go on."], { CODEX_HOME: home })
    const told = said(model, "Your conversation was compacted")
    check("codex is told after a compaction what is finished", told.length > 0 && told[0].body.includes("Done: do not do again"), `${ran.out}\n${ran.err}\n${model.requests.at(-1)?.body}`)
  } finally {
    model.close()
    if (failures === 0) here.done()
    else console.log(`        left for a look: ${here.base}`)
  }
}

if (claude !== "-") await tryClaude()
if (codex !== "-") await tryCodex()
process.exit(failures === 0 ? 0 : 1)
