import { attempt } from "../platform/parse.ts";
import { Problem } from "../platform/problem.ts";
import { answered } from "./calls.ts";
import type { Command } from "./command.ts";
import { connect, connectionOptions, defaultsOf, linesTo, serviceOf } from "./connection.ts";

const answerMs = 10_000;
const bodyBytesMax = 65_536;

export const status: Command = {
  name: "status",
  summary: "Show whether a service is ready, its warnings, and with a key how much of its limits an account has left",
  options: connectionOptions,
  async run({ options }, io) {
    const connection = serviceOf(options, defaultsOf(io));
    const client = await connect(connection, linesTo(io));
    const readiness = await readinessOf(client.url);
    const account = connection.key.trim() === "" || !readiness.ready ? null : await accountOf(client);
    const lines = [
      readiness.ready ? `${client.url} is ready.` : `${client.url} is not ready: ${readiness.reason ?? "it does not say why"}.`,
    ];
    lines.push(...readiness.warnings.map((warning) => `Warning: ${warning}`));
    if (account !== null) lines.push(accountLine(account));
    return { json: { url: client.url, ...readiness, account }, text: lines.join("\n"), exitCode: readiness.ready ? 0 : 6 };
  },
};

type Readiness = { ready: boolean; reason: string | null; warnings: string[] };

/** @throws Problem `unavailable` if nothing answers, `internal` if the answer is not that of a pet store */
async function readinessOf(url: string): Promise<Readiness> {
  const response = await fetch(`${url}/readyz`, { redirect: "manual", signal: AbortSignal.timeout(answerMs) }).catch((error: Error) => {
    const { code } = (error.cause ?? {}) as { code?: string };
    throw new Problem("unavailable", `The service at ${url} cannot be reached (${code ?? error.message}). Is it running?`);
  });
  const text = (await response.text()).slice(0, bodyBytesMax);
  const body = bodyOf(text);
  if (![200, 503].includes(response.status) || body === undefined)
    throw new Problem("internal", `The server answered ${response.status}. Is it a pet store's address?`);
  const { reason, warnings } = body as { reason?: unknown; warnings?: unknown };
  return {
    ready: response.status === 200,
    reason: typeof reason === "string" ? reason : null,
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  };
}

function bodyOf(text: string): object | undefined {
  const value = attempt((): unknown => JSON.parse(text));
  return typeof value === "object" && value !== null ? value : undefined;
}

async function accountOf(client: Awaited<ReturnType<typeof connect>>) {
  return answered(client.GET("/account"));
}

function accountLine({ id, name, plan, minute, day, records }: Awaited<ReturnType<typeof accountOf>>): string {
  const left = `${minute.remaining} of ${minute.limit} requests left this minute, ${day.remaining} of ${day.limit} today`;
  return `Account ${id} (${name}, ${plan}): ${left}; ${records.used} of ${records.limit} records.`;
}
