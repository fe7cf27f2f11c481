import { readFileSync } from "node:fs";
import { errorTable, type ProblemCode, problemCodes } from "../platform/error-table.ts";
import { addressOf } from "../platform/http/api-surfaces.ts";
import type { Description } from "../platform/http/description.ts";
import { apiOperations } from "./operations.ts";

type Json = Record<string, unknown>;

/** A page of the reference: its address, and its text in Markdown, which begins with its title. */
export type ReferenceText = { kind: "overview" | "guide" | "operation"; path: string; title: string; summary: string; markdown: string };

/** The guides, whose texts are in docs/guides/. */
export const guides = ["errors", "paging", "idempotency", "limits", "webhooks"] as const;

export const operationPath = (operationId: string): string => `/reference/${operationId}`;
export const guidePath = (name: string): string => `/reference/guides/${name}`;

/** Every page of the reference by its address, made from the description. */
export function referenceTexts(description: Description): Map<string, ReferenceText> {
  const pages = [...apiOperations.map(({ path, method }) => operationText(description, path, method)), ...guideTexts()];
  return new Map([overviewText(description, pages), ...pages].map((page) => [page.path, page]));
}

/** `/llms.txt`: the pages for language models, as links to their Markdown (llmstxt.org). */
export function llmsText(publicUrl: string, pages: Iterable<ReferenceText>): string {
  const link = ({ path, title, summary }: ReferenceText): string => `- [${title}](${publicUrl}${path}.md): ${summary}`;
  const [overview, ...others] = pages;
  const linksTo = (wanted: ReferenceText["kind"]): string =>
    others
      .filter(({ kind }) => kind === wanted)
      .map(link)
      .join("\n");
  return [
    `# ${overview?.title}\n\n> ${overview?.summary}\n`,
    `The API is at ${publicUrl}${addressOf("")}. Agents call it by the Model Context Protocol at ${publicUrl}/mcp, with the same keys.\n`,
    `## Guides\n\n${linksTo("guide")}\n`,
    `## Operations\n\n${linksTo("operation")}\n`,
    `## Optional\n\n- [OpenAPI description](${publicUrl}/openapi.json): every operation, schema and error, for programs\n`,
  ].join("\n");
}

/** `/.well-known/api-catalog` (RFC 9727): links to the API's description, documentation and status, as a link set (RFC 9264). */
export function apiCatalogue(publicUrl: string): string {
  const at = (path: string, type: string) => ({ href: publicUrl + path, type });
  const api = {
    anchor: publicUrl + addressOf(""),
    "service-desc": [at("/openapi.json", "application/json"), at("/openapi.yaml", "application/yaml")],
    "service-doc": [at("/reference", "text/html"), at("/llms.txt", "text/plain")],
    status: [at("/readyz", "application/json")],
  };
  const own = { anchor: `${publicUrl}/.well-known/api-catalog`, item: [{ href: api.anchor }] };
  return JSON.stringify({ linkset: [own, api] }, undefined, 2);
}

/** The guides, in the order in which the reference lists them. */
export const guideTexts = (): ReferenceText[] => guides.map(guideText);

function guideText(name: string): ReferenceText {
  const markdown = readFileSync(new URL(`../../docs/guides/${name}.md`, import.meta.url), "utf8");
  const [heading = "", first = ""] = markdown.split("\n\n");
  const table = name === "errors" ? `\n${codesTable()}\n` : "";
  return { kind: "guide", path: guidePath(name), title: heading.slice(2), summary: firstSentence(first), markdown: markdown + table };
}

/** Every code with its status and meaning, below the guide of errors. */
function codesTable(): string {
  const rows = problemCodes.map((code) => row(`\`${code}\``, String(errorTable[code].status), errorTable[code].meaning));
  return ["## Codes\n", row("code", "status", "meaning"), row(...dashes(3)), ...rows].join("\n");
}

function overviewText({ info }: Description, pages: ReferenceText[]): ReferenceText {
  const { title, description } = info as { title: string; description: string };
  const list = pages.map((page) => `- [${page.title}](${page.path})`).join("\n");
  const markdown = `# ${title}\n\n${description}\n\n## Operations and guides\n\n${list}\n`;
  return { kind: "overview", path: "/reference", title, summary: firstSentence(description), markdown };
}

function operationText(description: Description, path: string, method: string): ReferenceText {
  const operation = inlinedOperation(description, path, method);
  const { operationId, summary: title, description: about, deprecated } = operation;
  const [firstSample = [], ...others] = samplesOf(operation);
  const otherSamples = others.flat();
  const parts = [
    `# ${title}`,
    `\`${method} ${addressOf(path)}\``,
    ...(deprecated ? ["**Deprecated.**"] : []),
    about,
    ...firstSample,
    ...parametersOf(operation),
    ...bodyOf(operation),
    ...answersOf(operation),
    ...refusalsOf(operation),
    ...otherSamples,
  ];
  return { kind: "operation", path: operationPath(operationId), title, summary: firstSentence(about), markdown: `${parts.join("\n\n")}\n` };
}

function parametersOf({ parameters }: InlinedOperation): string[] {
  const rows = parameters.map(({ name, in: where, required, description, schema }) =>
    row(`\`${name}\``, where, typeOf(schema), required ? "yes" : "", description ?? ""),
  );
  return rows.length === 0
    ? []
    : ["## Parameters", [row("name", "in", "type", "required", "meaning"), row(...dashes(5)), ...rows].join("\n")];
}

function bodyOf({ requestBody }: InlinedOperation): string[] {
  if (!requestBody) return [];
  const types = Object.keys(requestBody.content).map((type) => `\`${type}\``);
  const [content] = Object.values(requestBody.content);
  return ["## Body", `${requestBody.description} ${types.join(" or ")}.`, ...fieldsOf(content?.schema), ...exampleOf(content?.example)];
}

function answersOf({ responses }: InlinedOperation): string[] {
  return Object.entries(responses).flatMap(([status, { description, content }]) => {
    if (!/^[23]/.test(status)) return [];
    const [shown] = Object.values(content ?? {});
    return [`## Answer ${status}`, description, ...fieldsOf(shown?.schema), ...exampleOf(shown?.example)];
  });
}

function refusalsOf({ responses }: InlinedOperation): string[] {
  const rows = Object.entries(responses).flatMap(([status, { content }]) => {
    const examples = Object.entries(Object.values(content ?? {})[0]?.examples ?? {});
    return examples.map(([code, { value }]) =>
      row(status, `\`${code}\``, errorTable[code as ProblemCode].meaning, String((value as Json)["message"])),
    );
  });
  return ["## Refusals", [row("status", "code", "meaning", "for example"), row(...dashes(4)), ...rows].join("\n")];
}

/** A heading and its code for each sample. */
function samplesOf(operation: InlinedOperation): string[][] {
  return operation["x-codeSamples"].map(({ lang, label, source }) => [`## ${label}`, `\`\`\`${lang.toLowerCase()}\n${source}\n\`\`\``]);
}

/** The fields of an object, or of the objects in an array. */
function fieldsOf(schema: Json | undefined): string[] {
  const element: { properties?: Record<string, Json>; required?: string[] } | undefined = schema?.["items"] ?? schema;
  const fields = Object.entries(element?.properties ?? {});
  if (fields.length === 0) return [];
  const rows = fields.map(([name, field]) => {
    const isRequired = element?.required?.includes(name) === true;
    return row(`\`${name}\``, typeOf(field), isRequired ? "yes" : "", (field["description"] as string | undefined) ?? "");
  });
  return [[row("field", "type", "required", "meaning"), row(...dashes(4)), ...rows].join("\n")];
}

function typeOf(schema: Json): string {
  const { enum: values, items, allOf, type } = schema as { enum?: unknown[]; items?: Json; allOf?: Json[]; type?: string };
  if (values) return values.map((value) => `\`${String(value)}\``).join(", ");
  if (allOf?.[0]) return typeOf(allOf[0]);
  return items ? `array of ${typeOf(items)}` : (type ?? "any");
}

function exampleOf(example: unknown): string[] {
  return example === undefined ? [] : [`\`\`\`json\n${JSON.stringify(example, undefined, 2)}\n\`\`\``];
}

const row = (...cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
const dashes = (count: number): string[] => Array.from({ length: count }, () => "---");

/** Returns the first sentence of a text, without its links, as the summary of a page. */
function firstSentence(text: string): string {
  const [paragraph = ""] = text
    .replaceAll("\n", " ")
    .replaceAll(/\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .split("  ", 1);
  const end = paragraph.indexOf(". ");
  return end < 0 ? paragraph : paragraph.slice(0, end + 1);
}

/**
 * The shell of the web application with the content of a page: its title, description and address in the head, and its text in the element
 * that the application fills. So the page can be read at once, and without JavaScript (`web/frame/early-text.css` has its look).
 */
export function prerendered(shell: string, { kind, path, title, summary, markdown }: ReferenceText, publicUrl: string): string {
  const head = [
    `<title>${escaped(title)} · Pet Store</title>`,
    `<meta name="description" content="${escaped(summary)}" />`,
    `<link rel="canonical" href="${escaped(publicUrl + path)}" />`,
    `<link rel="alternate" type="text/markdown" href="${escaped(path)}.md" />`,
  ];
  // replacers are functions, because a text may contain `$&`
  return shell
    .replace(/<title>[^<]*<\/title>/, () => head.join("\n    "))
    .replace(/<noscript>[^\n]*/, "")
    .replace('<div id="root">', (root) => `${root}<main class="early-text prose" data-kind="${kind}">${htmlOf(markdown)}</main>`);
}

/** The shell of the web application with the title and the lead of one of its pages, at the place where the application shows them. */
export function earlyHead(shell: string, { title, lead }: { title: string; lead: string }): string {
  const head = `<main class="early-text" data-head><h1>${escaped(title)}</h1><p>${escaped(lead)}</p></main>`;
  return shell.replace('<div id="root">', (root) => root + head);
}

/** The Markdown of the reference as HTML: headings, paragraphs, lists, tables, code, and in them code, bold text and links. */
export function htmlOf(markdown: string): string {
  const parts = markdown.split(/^```/m);
  return parts
    .map((part, i) =>
      i % 2 === 1
        ? codeOf(part)
        : part
            .split(/\n{2,}/)
            .map(blockOf)
            .join("\n"),
    )
    .join("\n");
}

function codeOf(part: string): string {
  return `<pre><code>${escaped(part.slice(part.indexOf("\n") + 1))}</code></pre>`;
}

function blockOf(block: string): string {
  const text = block.trim();
  if (text === "") return "";
  const level = text.length - text.replace(/^#{1,3}/, "").length;
  if (level > 0) return `<h${level}>${inlineOf(text.slice(level).trim())}</h${level}>`;
  const lines = text.split("\n");
  if (text.startsWith("|")) return tableOf(lines);
  if (text.startsWith("- ")) return `<ul>${lines.map((line) => `<li>${inlineOf(line.slice(2))}</li>`).join("")}</ul>`;
  if (text.startsWith("1. ")) return `<ol>${lines.map((line) => `<li>${inlineOf(line.slice(line.indexOf(" ")))}</li>`).join("")}</ol>`;
  return `<p>${inlineOf(text)}</p>`;
}

function tableOf([head = "", , ...rows]: string[]): string {
  const cells = (line: string, name: string): string => {
    const texts = line.replaceAll("\\|", "\u0000").split("|").slice(1, -1);
    return `<tr>${texts.map((text) => `<${name}>${inlineOf(text.replaceAll("\u0000", "|").trim())}</${name}>`).join("")}</tr>`;
  };
  const table = `<table><thead>${cells(head, "th")}</thead><tbody>${rows.map((line) => cells(line, "td")).join("")}</tbody></table>`;
  return `<div class="scrolled" tabindex="0">${table}</div>`; // a scrolling element must be reachable by keyboard (WCAG 2.2, 2.1.1)
}

/** Text between backquotes is code, in which nothing else has a meaning. */
function inlineOf(text: string): string {
  return text
    .split("`")
    .map((part, i) => (i % 2 === 1 ? `<code>${escaped(part)}</code>` : spansOf(escaped(part))))
    .join("");
}

function spansOf(html: string): string {
  return html
    .replaceAll(/\*\*([^*]*)\*\*/g, "<strong>$1</strong>")
    .replaceAll(/\[([^[\]]*)\]\(((?:https?:\/)?\/[^()\s]*)\)/g, '<a href="$2">$1</a>');
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Json };

type Content = Record<string, { schema: Json; example?: unknown; examples?: Record<string, { value: unknown }> }>;

/** An operation of the description with its references replaced by what they refer to. */
type InlinedOperation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  deprecated?: boolean;
  parameters: Parameter[];
  requestBody?: { description: string; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
  "x-codeSamples": { lang: string; label: string; source: string }[];
};

/** The operation at a path with a method, in capitals. */
function inlinedOperation(description: Description, path: string, method: string): InlinedOperation {
  return inlined(description, description.paths[path]?.[method.toLowerCase()]) as InlinedOperation;
}

/** The schemas of the description are not recursive, so this ends. */
function inlined(description: Description, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => inlined(description, item));
  if (value === null || typeof value !== "object") return value;
  if ("$ref" in value && typeof value.$ref === "string") {
    const steps = value.$ref.slice(2).split("/");
    return inlined(
      description,
      steps.reduce<unknown>((part, step) => (part as Json)[step], description),
    );
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inlined(description, member)]));
}
