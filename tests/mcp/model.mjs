// A model that follows a script, on this machine: answers POST /v1/messages as a stream. It calls the tools of its
// script in turn, then repeats the answer of the last one. All requests are written to a file.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const script = [
  { tool: "status", input: {} },
  { tool: "advance", input: { phase: "plan" } },
  { tool: "advance", input: { phase: "build", evidence: '{"tests_passed": "42"}' } },
];
const [record] = process.argv.slice(2);

// The number of the script's calls that have been answered in this conversation.
const answered = (messages) =>
  messages.flatMap((message) => (Array.isArray(message.content) ? message.content : [])).filter((part) => part.type === "tool_result").length;

function reply(request) {
  const names = (request.tools ?? []).map((tool) => tool.name);
  const step = script[answered(request.messages)];
  const name = step && names.find((name) => name.endsWith(`leftoff__${step.tool}`));
  if (!name) return { block: { type: "text", text: "" }, delta: { type: "text_delta", text: "All done." }, stop: "end_turn" };
  const id = `toolu_${answered(request.messages)}`;
  return {
    block: { type: "tool_use", id, name, input: {} },
    delta: { type: "input_json_delta", partial_json: JSON.stringify(step.input) },
    stop: "tool_use",
  };
}

createServer((incoming, outgoing) => {
  let body = "";
  incoming.on("data", (part) => (body += part));
  incoming.on("end", () => {
    if (!incoming.url.startsWith("/v1/messages")) return outgoing.writeHead(404).end("{}");
    if (incoming.url.includes("count_tokens")) {
      return outgoing.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens":1}');
    }
    const request = JSON.parse(body);
    appendFileSync(record, `${JSON.stringify(request)}\n`);
    const { block, delta, stop } = reply(request);
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model: request.model, content: [], stop_reason: null, stop_sequence: null, usage };
    const events = [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) outgoing.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    outgoing.end();
  });
}).listen(0, "127.0.0.1", function () {
  console.log(this.address().port);
});
