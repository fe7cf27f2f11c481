/** What the service is held against: the least that Node needs to answer the same bytes. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const answer = JSON.parse(process.env["ANSWER"] ?? "{}") as { status: number; headers: Record<string, string>; body: string };

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString("utf8"));
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  });
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
