import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport, type Tool } from "@modelcontextprotocol/client";

/** The result of a tool, as texts and as data. `ifMatch` is from its texts, `secrets` from its `_meta`. */
export type Result<T> = { data: T; isError: boolean; ifMatch: string | undefined; secrets: string[]; texts: string[] };
export type Refusal = { code: string; message: string; details?: { path: string; message: string }[] };

/**
 * An agent that knows the service only by its list of tools and their results. It chooses a tool by words of its description, and places values by
 * the tool's schema.
 */
export type Agent = {
  tools: Tool[];
  /** Calls the one tool whose description has these words. Fails if the tool refuses. */
  act<T>(words: string, values?: Record<string, unknown>): Promise<Result<T>>;
  /** Calls a tool by the name that a text of the service has named. */
  call<T>(name: string, values?: Record<string, unknown>): Promise<Result<T>>;
  /** The refusal of the one tool whose description has these words. */
  refusal(words: string, values?: Record<string, unknown>): Promise<Refusal>;
  /** The tools that a text names. */
  namedIn(text: string): string[];
  close(): Promise<void>;
};

/** Connects with the official client. */
export async function openAgent(address: string, key: string): Promise<Agent> {
  const client = new Client({ name: "agent", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`), { requestInit }));
  const { tools } = await client.listTools();

  async function call<T>(name: string, values: Record<string, unknown> = {}): Promise<Result<T>> {
    const tool = tools.find((one) => one.name === name) ?? assert.fail(`no tool is named ${name}`);
    const {
      content,
      structuredContent,
      isError = false,
      _meta: meta,
    } = await client.callTool({ name, arguments: argumentsOf(tool, values) });
    const texts = content.map((part) => (part.type === "text" ? part.text : assert.fail("a result is text")));
    const ifMatch = texts.find((text) => text.startsWith("ifMatch: "))?.slice("ifMatch: ".length);
    const secrets = (meta?.["petstore/secrets"] ?? []) as string[];
    return { data: structuredContent as T, isError, ifMatch, secrets, texts };
  }
  const nameOf = (words: string): string => {
    const found = tools.filter(({ description }) => description!.includes(words)).map(({ name }) => name);
    assert.equal(found.length, 1, `“${words}” is in ${found.join(", ") || "no description"}`);
    return found[0]!;
  };
  return {
    tools,
    call,
    async act(words, values) {
      const result = await call<never>(nameOf(words), values);
      assert.ok(!result.isError, `${words}: ${result.texts.join(" ")}`);
      return result;
    },
    async refusal(words, values) {
      const { isError, data, texts } = await call<Refusal>(nameOf(words), values);
      assert.ok(isError, texts.join(" "));
      return data;
    },
    namedIn: (text) => tools.map(({ name }) => name).filter((name) => new RegExp(`\\b${name}\\b`).test(text)),
    close: () => client.close(),
  };
}

type Schema = { properties?: Record<string, Schema> };

/** Places each value where the schema has its name: beside the others, or in `body`. */
function argumentsOf({ name: tool, inputSchema }: Tool, values: Record<string, unknown>): Record<string, unknown> {
  const { properties = {} } = inputSchema as Schema;
  const { body: written } = properties;
  const given: Record<string, unknown> = written ? { body: {} } : {};
  for (const [name, value] of Object.entries(values)) {
    if (name in properties) given[name] = value;
    else if (written?.properties && name in written.properties) (given["body"] as Record<string, unknown>)[name] = value;
    else assert.fail(`${tool} shows no argument ${name}`);
  }
  return given;
}
