// Written by leftoff init; `leftoff init --agent opencode --remove` takes it out. Experimental.
// Tells leftoff what happens here, in the shape that its hook reads. Whatever goes wrong, OpenCode goes on.
import { spawnSync } from "node:child_process"

const TOOLS: Record<string, string> = { bash: "Bash", edit: "Edit", write: "Write", patch: "Edit", skill: "Skill" }

function ask(directory: string, event: Record<string, unknown>): any {
  try {
    const input = JSON.stringify({ cwd: directory, ...event })
    const ran = spawnSync("leftoff", ["hook", "opencode"], { input, encoding: "utf8", timeout: 10_000 })
    return ran.stdout ? JSON.parse(ran.stdout) : undefined
  } catch {
    return undefined
  }
}

function call(input: any, args: any) {
  const given = args ?? {}
  return {
    session_id: input.sessionID,
    tool_name: TOOLS[input.tool] ?? input.tool,
    tool_use_id: input.callID,
    tool_input: { ...given, file_path: given.filePath ?? given.file_path, skill: given.name ?? given.skill },
  }
}

export const Leftoff = async ({ client, directory }: any) => ({
  event: async ({ event }: any) => {
    const session = event.properties?.sessionID ?? event.properties?.info?.id
    if (!session) return
    if (event.type === "session.created" || event.type === "session.compacted") {
      const source = event.type === "session.compacted" ? "compact" : "startup"
      const said = ask(directory, { session_id: session, hook_event_name: "SessionStart", source })
      const text = said?.hookSpecificOutput?.additionalContext
      if (text) {
        const body = { noReply: true, parts: [{ type: "text", text }] }
        await client.session.prompt({ path: { id: session }, body }).catch(() => {})
      }
    } else if (event.type === "session.deleted") {
      ask(directory, { session_id: session, hook_event_name: "SessionEnd", reason: "deleted" })
    }
  },
  "tool.execute.before": async (input: any, output: any) => {
    const said = ask(directory, { hook_event_name: "PreToolUse", ...call(input, output.args) })
    const decided = said?.hookSpecificOutput
    if (decided?.permissionDecision === "deny") throw new Error(decided.permissionDecisionReason)
  },
  "tool.execute.after": async (input: any, output: any) => {
    ask(directory, { hook_event_name: "PostToolUse", ...call(input, input.args ?? output.metadata?.args) })
  },
})
