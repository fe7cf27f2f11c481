/**
 * The baseline for the service: the least that Node needs to answer the same bytes. With DURABLE, the name of a file, the server flushes
 * each body to the file before it answers; bodies that arrive during a flush share the next one.
 */
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const answer = JSON.parse(process.env["ANSWER"] ?? "{}") as { status: number; headers: Record<string, string>; body: string };
const durable = process.env["DURABLE"];
const file = durable === undefined ? undefined : await open(durable, "a");
let waiting: { body: string; done: () => void }[] = [];
let isFlushing = false;

const server = createServer((request, response) => {
  const send = (): void => {
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  };
  if (request.method === "GET") return send();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    JSON.parse(body);
    if (file === undefined) return send();
    waiting.push({ body, done: send });
    if (!isFlushing) void flush();
  });
});

async function flush(): Promise<void> {
  isFlushing = true;
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    await file?.write(`${group.map(({ body }) => body).join("\n")}\n`);
    await file?.datasync();
    for (const { done } of group) done();
  }
  isFlushing = false;
}

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
