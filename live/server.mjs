// A language model on 127.0.0.1 that speaks OpenAI's chat completions, for `make live`.
//
//   node server.mjs MODEL.gguf PORT_FILE [CONTEXT_TOKENS]
//
// One request at a time. A JSON Schema in `response_format` becomes a grammar. An answer that is cut at the token limit says so
// (`finish_reason: length`), tokens are counted, and a prompt that does not fit is refused the way hosted services do it, so that
// a client meets here what it meets elsewhere. The port is written to PORT_FILE when the model is loaded.
import fs from "node:fs";
import http from "node:http";
import { getLlama, LlamaChatSession } from "node-llama-cpp";

const [modelPath, portFile, contextText] = process.argv.slice(2);
const contextSize = Number(contextText || 8192);
// What an answer needs at least, beside the prompt.
const LEAST_ANSWER = 256;
// A small model that has begun to repeat itself never ends; what is whole of an answer that is cut counts all the same.
const MOST_ANSWER = 1200;

const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, maxThreads: 2 });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize });
const grammars = new Map();

const text = (messages) => messages.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content))).join("\n");

class Refused extends Error {}

async function grammarOf(schema) {
  const key = JSON.stringify(schema);
  if (!grammars.has(key)) grammars.set(key, await llama.createGrammarForJsonSchema(schema));
  return grammars.get(key);
}

async function answer(body) {
  const system = text(body.messages.filter((message) => message.role === "system"));
  const prompt = text(body.messages.filter((message) => message.role !== "system"));
  const asked = model.tokenize(system + prompt).length;
  if (asked + LEAST_ANSWER > contextSize) {
    throw new Refused(`This model's maximum context length is ${contextSize} tokens. However, your messages resulted in ${asked} tokens.`);
  }
  const sequence = context.getSequence();
  try {
    const session = new LlamaChatSession({ contextSequence: sequence, systemPrompt: system });
    const wanted = body.max_completion_tokens || body.max_tokens || 1024;
    const limit = Math.min(wanted, MOST_ANSWER, contextSize - asked - 64);
    const schema = body.response_format?.json_schema?.schema;
    const grammar = schema ? await grammarOf(schema) : undefined;
    const began = Date.now();
    const said = await session.promptWithMeta(prompt, { maxTokens: limit, temperature: body.temperature ?? 0, grammar });
    const told = model.tokenize(said.responseText).length;
    console.error(`${asked} tokens in, ${told} out, ${((Date.now() - began) / 1000).toFixed(1)} s, ${said.stopReason}`);
    return { said, asked, told };
  } finally {
    sequence.dispose();
  }
}

function respond(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

async function serve(response, raw) {
  try {
    const body = JSON.parse(raw);
    const { said, asked, told } = await answer(body);
    respond(response, 200, {
      id: "live",
      object: "chat.completion",
      model: body.model,
      usage: { prompt_tokens: asked, completion_tokens: told, total_tokens: asked + told },
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: said.responseText },
          finish_reason: said.stopReason === "maxTokens" ? "length" : "stop",
        },
      ],
    });
  } catch (error) {
    const code = error instanceof Refused ? "context_length_exceeded" : null;
    const status = error instanceof Refused || error instanceof SyntaxError ? 400 : 500;
    respond(response, status, { error: { message: String(error.message), type: "invalid_request_error", code } });
  }
}

let queue = Promise.resolve();
const server = http.createServer((request, response) => {
  let raw = "";
  request.on("data", (data) => (raw += data));
  request.on("end", () => {
    if (request.url.endsWith("/models")) {
      respond(response, 200, { data: [{ id: "local", context_length: contextSize }] });
      return;
    }
    if (request.url.endsWith("/cpu")) {
      const { user, system } = process.cpuUsage();
      respond(response, 200, { seconds: (user + system) / 1e6 });
      return;
    }
    queue = queue.then(() => serve(response, raw));
  });
});
server.listen(0, "127.0.0.1", () => {
  fs.writeFileSync(`${portFile}.new`, String(server.address().port));
  fs.renameSync(`${portFile}.new`, portFile);
});
