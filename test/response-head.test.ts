import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./support/folder.ts";
import { addressOf, createAccount, spawnServer } from "./support/process.ts";
import { openRaw, type RawAnswer } from "./support/raw.ts";

const preload = fileURLToPath(new URL("support/other-node.ts", import.meta.url));

/** Values that differ between two services, or from one second to the next. */
const varying = new Set(["date", "x-request-id", "x-ratelimit-reset", "ratelimit"]);

function shown({ status, headers, body }: RawAnswer): object {
  const names = Object.entries(headers).map(([name, value]) => `${name}: ${varying.has(name) ? "" : value}`);
  return { status, headers: names.toSorted(), body };
}

/** The answers of a new service, on one connection, to requests of every kind: with and without a body, refusals, 204, 304 and HEAD. */
async function answersOf(t: TestContext, env: Record<string, string>): Promise<object[]> {
  const dataDir = temporaryFolder(t);
  const authorization = `Authorization: Bearer ${await createAccount(dataDir)}\r\n`;
  const server = spawnServer(t, dataDir, env);
  const raw = await openRaw(await addressOf(server));
  t.after(() => raw.close());
  const answers: object[] = [];
  const ask = async (line: string, headers: string, body = ""): Promise<void> => {
    const length = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    await raw.write(`${line} HTTP/1.1\r\nHost: localhost\r\n${headers}${length}\r\n${body}`);
    answers.push(shown(await raw.answer({ head: line.startsWith("HEAD") })));
  };
  await ask("POST /v1/categories", authorization, '{"name":"Hünde"}');
  await ask("POST /v1/pets", authorization, '{"name":"Rex","categoryId":1}');
  await ask("GET /v1/pets/1", authorization);
  await ask("GET /v1/pets?id=1", `${authorization}If-None-Match: "v1"\r\n`);
  await ask("HEAD /v1/pets?limit=1", authorization);
  await ask("DELETE /v1/pets/1", authorization);
  await ask("GET /v1/pets/1", authorization);
  await ask("GET /v1/pets", "");
  await ask("OPTIONS /v1/pets", "Origin: https://shop.test\r\nAccess-Control-Request-Method: GET\r\n");
  await ask("GET /healthz", "");
  server.kill("SIGKILL");
  return answers;
}

test("on a release of Node with another field for heads, or other heads, every answer is the same through writeHead", async (t) => {
  const answers = await answersOf(t, {});
  assert.deepEqual(
    answers.map((answer) => (answer as RawAnswer).status),
    [201, 201, 200, 304, 200, 204, 404, 401, 204, 200],
  );
  const other = (name: string) => answersOf(t, { NODE_OPTIONS: `--import ${preload}`, OTHER_NODE: name });
  assert.deepEqual(await other("field"), answers);
  const withMore = answers.map((answer) => {
    const { status, headers, body } = answer as { status: number; headers: string[]; body: string };
    return { status, headers: [...headers, "x-new: 1"].toSorted(), body };
  });
  assert.deepEqual(await other("bytes"), withMore, "Node writes its own header into every answer");
});
