// Real agents, headless, against a model on loopback: they receive the brief, are denied a tool, are kept from
// stopping and then allowed to stop, and after a compaction learn what is finished; one agent finishes work that another
// agent started in another clone.
// Usage: run.mjs LEFTOFF CLAUDE CODEX GEMINI OPENCODE (a path, or - to leave out).
import { spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { serve } from "./model.mjs"

const [leftoff, claude, codex, gemini = "-", opencode = "-"] = process.argv.slice(2)
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
  // A login shell, in which some agents run their commands, sets a PATH of its own.
  writeFileSync(join(home, ".profile"), `export PATH="${bin}:$PATH"\n`)
  // A sandbox protects the git folder, which contains the files of the other kind of requirements.
  writeFileSync(join(root, ".leftoff/workflows/ship.toml"), agent === "codex" ? WORKFLOW + REQUIREMENT : WORKFLOW)
  if (agent !== "codex") writeFileSync(join(root, ".claude/requirements.yaml"), RULES)
  run("leftoff", "init", "--agent", agent)
  run("leftoff", "start", "ship", "--id", "login", "--goal", "No log-out while a tab is open")
  if (agent !== "codex") run("leftoff", "advance", "--phase", "plan")
  return { base, root, home, env, run, done: () => rmSync(base, { recursive: true, force: true }) }
}

/** Two clones of one bare repository, each with a user and a home of its own, which share their sessions. */
function clones() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache")
  mkdirSync(join(cache, "leftoff"), { recursive: true })
  const base = mkdtempSync(join(cache, "leftoff", "agents-"))
  const bin = join(base, "bin")
  mkdirSync(bin)
  cpSync(leftoff, join(bin, "leftoff"))
  const clone = (name, agent) => {
    const [root, home] = [join(base, name), join(base, `home-${name}`)]
    mkdirSync(join(home, "tmp"), { recursive: true })
    writeFileSync(join(home, ".profile"), `export PATH="${bin}:$PATH"\n`)
    writeFileSync(join(home, ".gitconfig"), `[user]\nname = ${name}\nemail = ${name}@example.com\n[init]\ndefaultBranch = main\n`)
    const env = { PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, USER: name, LC_ALL: "C.UTF-8", TMPDIR: join(home, "tmp"), NO_COLOR: "1" }
    const attempt = (...words) => spawnSync(words[0], words.slice(1), { cwd: existsSync(root) ? root : base, env, encoding: "utf8" })
    const run = (...words) => {
      const ran = attempt(...words)
      if (ran.status !== 0) throw new Error(`${words.join(" ")}: ${ran.stderr}`)
      return ran.stdout
    }
    if (!existsSync(join(base, "hub.git"))) run("git", "init", "--quiet", "--bare", "hub.git")
    run("git", "clone", "--quiet", "hub.git", name)
    run("leftoff", "init", "--agent", agent)
    run("leftoff", "init", "--sync")
    return { root, home, env, run, attempt }
  }
  return { base, clone, done: () => rmSync(base, { recursive: true, force: true }) }
}

/** Runs an agent to its end; it is ended after five minutes. */
function agent(world, program, words, more = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, words, { cwd: world.root, env: { ...world.env, ...more }, stdio: ["ignore", "pipe", "pipe"] })
    let [out, err] = ["", ""]
    child.stdout.on("data", (part) => (out += part))
    child.stderr.on("data", (part) => (err += part))
    const timer = setTimeout(() => child.kill("SIGKILL"), 300_000)
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
  check(`${name} is held at its stop`, said(model, "Not finished yet: the gate of phase 'build' did not pass").length > 0, shown)
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
    check("claude is told after /compact what is finished", told.length > 0 && told[0].body.includes("Done (do not redo)"), shown)
  } finally {
    model.close()
    if (failures === 0) here.done()
    else console.log(`        left for a look: ${here.base}`)
  }
}

/** Adds the model on loopback, and trust in a project, to what `init` wrote. */
function pointCodexAt(model, home, root) {
  const settings = readFileSync(join(home, "config.toml"), "utf8")
  writeFileSync(join(home, "config.toml"), `model = "gpt-5.5"\nmodel_provider = "mock"\n${settings}
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:${model.port}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[projects."${root}"]
trust_level = "trusted"
`)
}

async function tryCodex() {
  const model = await serve()
  const here = world("codex")
  const home = join(here.home, ".codex")
  // The store's folder is a writable root already, because `init` added it.
  pointCodexAt(model, home, here.root)
  const words = ["--dangerously-bypass-hook-trust", "--sandbox", "workspace-write", "--skip-git-repo-check"]
  const talk = (prompt, ...more) => agent(here, codex, ["exec", ...words, ...more, prompt], { CODEX_HOME: home })
  try {
    const place = JSON.parse(here.run("leftoff", "store", "info", "--json")).place
    check("codex's store is outside the git folder", !place.includes("/.git/") && place.startsWith(here.home), place)
    await story("codex", model, here, talk)
    // The agent compacts a conversation that nearly fills its context.
    model.tokens = 100_000
    model.play([{ bash: "true" }, { bash: "true" }, { text: "fine" }])
    const ran = await agent(here, codex, ["exec", ...words, "-c", "model_auto_compact_token_limit=50000", "resume", "--last", "Go on."], { CODEX_HOME: home })
    const told = said(model, "Your conversation was compacted")
    check("codex is told after a compaction what is finished", told.length > 0 && told[0].body.includes("Done (do not redo)"), `${ran.out}\n${ran.err}\n${model.requests.at(-1)?.body}`)
  } finally {
    model.close()
    if (failures === 0) here.done()
    else console.log(`        left for a look: ${here.base}`)
  }
}

/** Claude Code works in one clone, is compacted and killed; Codex finishes the session in another clone. */
async function tryHandOver() {
  const model = await serve()
  const world = clones()
  const anna = world.clone("anna", "claude")
  const env = {
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.port}`,
    ANTHROPIC_API_KEY: "dummy",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CONFIG_DIR: join(anna.home, ".claude"),
  }
  const talk = (words, ...more) => agent(anna, claude, ["-p", words, "--allowedTools", "Bash,Write,Edit", ...more], env)
  try {
    mkdirSync(join(anna.root, ".leftoff/workflows"), { recursive: true })
    writeFileSync(join(anna.root, ".leftoff/workflows/ship.toml"), WORKFLOW.replace("hold_at_stop = true\n", ""))
    anna.run("leftoff", "start", "ship", "--id", "login", "--goal", "No log-out while a tab is open")
    model.play([
      { bash: "leftoff note --kind decision 'Rotate on every use'" },
      { bash: "leftoff advance --phase plan" },
      { text: "The plan is done." },
    ])
    await talk("Plan it.")
    model.play([{ text: "fine" }])
    await talk("/compact", "--continue")
    model.play([{ bash: "sleep 100" }])
    const killed = spawn(claude, ["-p", "Build it.", "--continue", "--allowedTools", "Bash"], { cwd: anna.root, env: { ...anna.env, ...env }, stdio: "ignore", detached: true })
    for (let waited = 0; waited < 600 && !model.requests.some((request) => request.main); waited += 1) await new Promise((go) => setTimeout(go, 100))
    process.kill(-killed.pid, "SIGKILL")
    anna.run("leftoff", "sync")

    const ben = world.clone("ben", "codex")
    ben.run("leftoff", "sync")
    const refused = ben.attempt("leftoff", "resume", "login")
    check("a session in use in another clone is not taken over silently", refused.status === 4 && refused.stderr.includes("--take"), refused.stderr)
    ben.run("script", "--quiet", "--return", "--command", "leftoff resume login --take", "/dev/null")
    const home = join(ben.home, ".codex")
    pointCodexAt(model, home, ben.root)
    model.play([
      { bash: "leftoff advance --phase build --evidence passed=2" },
      { bash: "leftoff advance --phase review" },
      { text: "Finished." },
    ])
    const words = ["exec", "--dangerously-bypass-hook-trust", "--sandbox", "workspace-write", "--skip-git-repo-check", "Go on."]
    const ran = await agent(ben, codex, words, { CODEX_HOME: home })
    const first = model.requests.find((request) => request.main)?.body ?? ""
    check("codex is told in its clone what claude decided in the other", first.includes("Rotate on every use") && first.includes("session login"), first)
    const log = ben.run("leftoff", "log", "login", "--json")
    const by = (name) => log.includes(`"agent":"${name}"`) || log.includes(`"agent": "${name}"`)
    const shown = JSON.parse(ben.run("leftoff", "show", "login", "--json"))
    check("codex finishes what claude began in another clone", shown.lifecycle.state === "completed" && by("claude") && by("codex"), `${log}\n${ran.out}\n${ran.err}`)
    ben.run("leftoff", "sync")
    const carla = world.clone("carla", "claude")
    carla.run("leftoff", "sync")
    const seen = JSON.parse(carla.run("leftoff", "show", "login", "--json"))
    check("a third clone sees it finished", seen.lifecycle.state === "completed", JSON.stringify(seen.lifecycle))
  } finally {
    model.close()
    if (failures === 0) world.done()
    else console.log(`        left for a look: ${world.base}`)
  }
}

/** What an agent goes through that was not tried as closely: the brief arrives, and its command counts as its own. */
async function shortStory(name, model, here, talk) {
  const file = join(here.root, "notes.txt")
  model.play([
    { write: { path: file, content: "first" } },
    { bash: "leftoff req satisfy planned" },
    { write: { path: file, content: "second" } },
    { bash: "leftoff advance --phase build --evidence passed=2" },
    { text: "All done." },
  ])
  const ran = await talk("Build it.")
  const shown = `${ran.out}\n${ran.err}`
  const main = model.requests.filter((request) => request.main)
  check(`${name} receives the brief`, main.some((request) => request.body.includes("Where you left off") && request.body.includes("session login")), shown)
  check(`${name} is denied`, said(model, "a requirement is not satisfied").length > 0, shown)
  check(`${name} is let through when it is satisfied`, existsSync(file) && readFileSync(file, "utf8").includes("second"), shown)
  const status = JSON.parse(here.run("leftoff", "status", "--json"))
  check(`${name} completes a phase`, status.current_phase.id === "review", JSON.stringify(status.phases, null, 1) + shown)
  const log = here.run("leftoff", "log", "--json")
  check(`${name}'s commands are recorded as its own`, log.includes(`"agent":"${name}"`) || log.includes(`"agent": "${name}"`), log)
}

async function tryGemini() {
  const model = await serve()
  const here = world("gemini")
  const env = {
    GEMINI_API_KEY: "dummy",
    GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${model.port}`,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    GEMINI_TELEMETRY_ENABLED: "false",
  }
  const settings = { security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } }, privacy: { usageStatisticsEnabled: false }, general: { disableAutoUpdate: true } }
  mkdirSync(join(here.home, ".gemini"), { recursive: true })
  writeFileSync(join(here.home, ".gemini/settings.json"), JSON.stringify(settings))
  try {
    await shortStory("gemini", model, here, (words) => agent(here, gemini, ["--yolo", "--model", "gemini-2.5-pro", "-p", words], env))
  } finally {
    model.close()
    if (failures === 0) here.done()
    else console.log(`        left for a look: ${here.base}`)
  }
}

async function tryOpencode() {
  const model = await serve()
  const here = world("opencode")
  const config = {
    $schema: "https://opencode.ai/config.json",
    autoupdate: false,
    share: "disabled",
    model: "mock/mock",
    provider: { mock: { npm: "@ai-sdk/openai-compatible", name: "mock", options: { baseURL: `http://127.0.0.1:${model.port}/v1`, apiKey: "dummy" }, models: { mock: { name: "mock", tool_call: true, limit: { context: 100000, output: 4096 } } } } },
  }
  writeFileSync(join(here.root, "opencode.json"), JSON.stringify(config))
  const env = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }
  try {
    await shortStory("opencode", model, here, (words) => agent(here, opencode, ["run", "--model", "mock/mock", words], env))
  } finally {
    model.close()
    if (failures === 0) here.done()
    else console.log(`        left for a look: ${here.base}`)
  }
}

if (claude !== "-") await tryClaude()
if (codex !== "-") await tryCodex()
if (claude !== "-" && codex !== "-") await tryHandOver()
if (gemini !== "-") await tryGemini()
if (opencode !== "-") await tryOpencode()
process.exit(failures === 0 ? 0 : 1)
