// A model on loopback that follows a scenario: it speaks to Claude Code, Codex, Gemini CLI and OpenCode in their own
// protocols, and stores every request, so that a scenario can check what the agent sent to its model.
import { createServer } from "node:http"

/** A turn is `{ text }`, or `{ bash }`, `{ write: { path, content } }`; the last one is said again and again. */
export async function serve() {
  const state = { turns: [], requests: [], tokens: 10 }
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (part) => (body += part))
    request.on("end", () => {
      try {
        answer(state, request, body, response)
      } catch (error) {
        response.writeHead(500).end(String(error))
      }
    })
  })
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready))
  state.port = server.address().port
  state.close = () => server.close()
  state.play = (turns) => {
    state.turns = [...turns]
    state.requests = []
  }
  return state
}

function answer(state, request, body, response) {
  const path = request.url.split("?")[0]
  const asked = body && body.startsWith("{") ? JSON.parse(body) : {}
  if (path.endsWith("/count_tokens")) return json(response, { input_tokens: 10 })
  if (path.endsWith("/messages")) return claude(state, asked, body, response)
  if (path.endsWith("/responses")) return codex(state, asked, body, response)
  if (path.includes("GenerateContent") || path.includes("generateContent")) return gemini(state, asked, body, path, response)
  if (path.endsWith(":countTokens")) return json(response, { totalTokens: 10 })
  if (path.endsWith("/chat/completions")) return chat(state, asked, body, response)
  if (path.endsWith("/models")) return json(response, { data: [], models: [] })
  json(response, {})
}

/** What is asked beside the conversation, such as a title or a summary, has no tools. */
function next(state, body, hasTools) {
  state.requests.push({ body, main: hasTools })
  if (!hasTools) return { text: "summary" }
  return state.turns.length > 1 ? state.turns.shift() : (state.turns[0] ?? { text: "done" })
}

function claude(state, asked, body, response) {
  const names = (asked.tools ?? []).map((tool) => tool.name)
  const turn = next(state, body, names.includes("Bash"))
  const content = turn.bash
    ? { type: "tool_use", id: `toolu_${Date.now()}${Math.floor(Math.random() * 1e6)}`, name: "Bash", input: {} }
    : turn.write
      ? { type: "tool_use", id: `toolu_${Date.now()}${Math.floor(Math.random() * 1e6)}`, name: "Write", input: {} }
      : { type: "text", text: "" }
  const delta = turn.bash
    ? { type: "input_json_delta", partial_json: JSON.stringify({ command: turn.bash, description: "run it" }) }
    : turn.write
      ? { type: "input_json_delta", partial_json: JSON.stringify({ file_path: turn.write.path, content: turn.write.content }) }
      : { type: "text_delta", text: turn.text }
  const stop = turn.text === undefined ? "tool_use" : "end_turn"
  const message = { id: "msg_1", type: "message", role: "assistant", model: asked.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: state.tokens, output_tokens: 1 } }
  if (!asked.stream) {
    const whole = turn.text === undefined ? { ...content, input: JSON.parse(delta.partial_json) } : { type: "text", text: turn.text }
    return json(response, { ...message, content: [whole], stop_reason: stop })
  }
  events(response, [
    ["message_start", { type: "message_start", message }],
    ["content_block_start", { type: "content_block_start", index: 0, content_block: content }],
    ["content_block_delta", { type: "content_block_delta", index: 0, delta }],
    ["content_block_stop", { type: "content_block_stop", index: 0 }],
    ["message_delta", { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } }],
    ["message_stop", { type: "message_stop" }],
  ])
}

function codex(state, asked, body, response) {
  const tools = asked.tools ?? []
  const turn = next(state, body, tools.length > 0)
  const id = `${Date.now()}${Math.floor(Math.random() * 1e6)}`
  const usage = { input_tokens: state.tokens, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: state.tokens + 1 }
  events(response, [
    ["response.created", { type: "response.created", response: { id: `resp_${id}` } }],
    ["response.output_item.done", { type: "response.output_item.done", output_index: 0, item: item(turn, tools, id) }],
    ["response.completed", { type: "response.completed", response: { id: `resp_${id}`, usage, end_turn: turn.text !== undefined } }],
  ])
}

function item(turn, tools, id) {
  if (turn.text !== undefined) {
    return { type: "message", id: `msg_${id}`, role: "assistant", content: [{ type: "output_text", text: turn.text }] }
  }
  const named = (name) => tools.find((tool) => tool.name === name)
  if (turn.write) {
    const patch = `*** Begin Patch\n*** Add File: ${turn.write.path}\n${turn.write.content.split("\n").map((line) => `+${line}`).join("\n")}\n*** End Patch\n`
    const tool = named("apply_patch")
    if (tool?.type === "custom") return { type: "custom_tool_call", id: `ctc_${id}`, call_id: `call_${id}`, name: "apply_patch", input: patch }
    return { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: "apply_patch", arguments: JSON.stringify({ input: patch }) }
  }
  const call = named("exec_command")
    ? { name: "exec_command", arguments: { cmd: turn.bash, yield_time_ms: 10_000 } }
    : named("shell_command")
      ? { name: "shell_command", arguments: { command: turn.bash } }
      : { name: "shell", arguments: { command: ["bash", "-lc", turn.bash] } }
  return { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: call.name, arguments: JSON.stringify(call.arguments) }
}

function gemini(state, asked, body, path, response) {
  const names = (asked.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []).map((tool) => tool.name)
  const turn = next(state, body, names.includes("run_shell_command"))
  const part = turn.bash
    ? { functionCall: { name: "run_shell_command", args: { command: turn.bash, description: "run it" } } }
    : turn.write
      ? { functionCall: { name: "write_file", args: { file_path: turn.write.path, content: turn.write.content } } }
      : { text: turn.text }
  const whole = {
    candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: state.tokens, candidatesTokenCount: 1, totalTokenCount: state.tokens + 1 },
  }
  if (!path.includes("stream")) return json(response, whole)
  response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${JSON.stringify(whole)}\n\n`)
}

/** OpenAI's older protocol, which OpenCode speaks to a provider of one's own. */
function chat(state, asked, body, response) {
  const names = (asked.tools ?? []).map((tool) => tool.function?.name)
  const turn = next(state, body, names.includes("bash"))
  const call = (name, values) => ({ index: 0, id: `call_${Date.now()}${Math.floor(Math.random() * 1e6)}`, type: "function", function: { name, arguments: JSON.stringify(values) } })
  const delta = turn.bash
    ? { role: "assistant", tool_calls: [call("bash", { command: turn.bash, description: "run it" })] }
    : turn.write
      ? { role: "assistant", tool_calls: [call("write", { filePath: turn.write.path, content: turn.write.content })] }
      : { role: "assistant", content: turn.text }
  const chunk = (more) => ({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: asked.model, ...more })
  const finish = turn.text === undefined ? "tool_calls" : "stop"
  const usage = { prompt_tokens: state.tokens, completion_tokens: 1, total_tokens: state.tokens + 1 }
  if (!asked.stream) {
    return json(response, { id: "chatcmpl-1", object: "chat.completion", created: 1, model: asked.model, choices: [{ index: 0, message: delta, finish_reason: finish }], usage })
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const data of [chunk({ choices: [{ index: 0, delta, finish_reason: null }] }), chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }], usage })]) response.write(`data: ${JSON.stringify(data)}\n\n`)
  response.end("data: [DONE]\n\n")
}

function events(response, list) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  for (const [name, data] of list) response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  response.end()
}

function json(response, value) {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
}
