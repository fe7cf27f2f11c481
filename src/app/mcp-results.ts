import { addressOf, prefix } from "../platform/http/api-surfaces.ts";
import { etagOf } from "../platform/http/conditions.ts";
import type { Answer } from "../platform/http/operation.ts";
import type { Router } from "../platform/http/router.ts";
import { secretsKey, type Tool } from "./mcp-tools.ts";

type Find = Router["find"];
type Refusal = { message: string; details?: { path: string; message: string }[] };

/**
 * Converts an answer of an operation to the result of its tool: a list becomes `{items, next}`, where `next` is the `cursor` of the next page,
 * or `after` of the next events, or null. The version of a resource is a separate text, for `ifMatch`. A refusal that was kept for its
 * Idempotency-Key is an error again.
 */
export function resultOf({ secret }: Pick<Tool, "secret">, answer: Answer, isDryRun: boolean, find: Find) {
  const { status, headers, version } = answer;
  const body = answer.text === undefined ? answer.body : (JSON.parse(answer.text) as unknown);
  if (status >= 400) return refusedResult(body as Refusal, find);
  const shown = Array.isArray(body)
    ? { items: body as unknown[], next: nextOf(headers?.["link"]) }
    : ((body ?? {}) as Record<string, unknown>);
  const content = [text(body === undefined ? "Done." : JSON.stringify(shown))];
  const tag = version === undefined ? headers?.["etag"] : etagOf(version);
  if (isDryRun) content.push(text("This was a dry run: nothing has changed."));
  else if (tag !== undefined) content.push(text(`ifMatch: ${tag}`));
  if (secret === undefined || !(secret in shown)) return { content, structuredContent: shown };
  content.push(text(`\`${secret}\` is a secret that is shown only here: store it in a safe place, and write it nowhere else.`));
  return { content, structuredContent: shown, _meta: { [secretsKey]: [secret] } };
}

/** The result of a call that is refused: an error that names tools and their arguments. */
export function refusedResult(body: Refusal, find: Find) {
  const refusal = refusalForAgents(body, find);
  return { content: [text(JSON.stringify(refusal))], structuredContent: refusal, isError: true };
}

const text = (words: string) => ({ type: "text" as const, text: words });

function nextOf(link: string | undefined): string | number | null {
  const [, target] = /^<([^>]*)>; rel="next"$/.exec(link ?? "") ?? [];
  const parameters = new URLSearchParams(target?.split("?")[1]);
  return parameters.has("after") ? Number(parameters.get("after")) : parameters.get("cursor");
}

/** A refusal in the words of tools: arguments in place of parameters and headers, and the names of tools in place of methods and paths. */
export function refusalForAgents<T extends Refusal>(refusal: T, find: Find): T {
  const { details } = refusal;
  return {
    ...refusal,
    message: wordsForAgents(refusal.message, find),
    ...(details && {
      details: details.map(({ path, message }) => ({ path: wordsForAgents(path, find), message: wordsForAgents(message, find) })),
    }),
  };
}

function wordsForAgents(words: string, find: Find): string {
  return words
    .replaceAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[^\s`,;:)]*[^\s`,;:).])/g, (all, method: string, path: string) => {
      const url = path.startsWith(`${prefix}/`) ? path : addressOf(path);
      return find(method, url).route.operationId ?? all;
    })
    .replaceAll(/\b(?:query|path)\.(?=[a-z])|\bheader\.| in the path\b/g, "")
    .replaceAll("If-Match", "ifMatch")
    .replaceAll("Idempotency-Key", "idempotencyKey")
    .replaceAll("Prefer", "dryRun")
    .replaceAll("ETag", "version");
}
