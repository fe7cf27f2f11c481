import { isOwnPath, parseLink } from "./links.ts";
import { type Markup, markup } from "./markup.ts";

/**
 * Returns the markup of a shop's text in a part of Markdown: headings, paragraphs, lists, quotes, rules, strong, emphasis and links. Everything else,
 * such as HTML, is text. It takes time in proportion to the text.
 */
export function textMarkup(text: string): Markup {
  const lines = text.replaceAll(/\r\n?/g, "\n").split("\n");
  const blocks: Markup[] = [];
  for (let at = 0; at < lines.length;) {
    const kind = kindOf(lines[at]!);
    const from = at;
    do at += 1;
    while (at < lines.length && joins(kind, kindOf(lines[at]!)));
    const block = blockOf(kind, lines.slice(from, at));
    if (block !== undefined) blocks.push(block);
  }
  return markup`${blocks}`;
}

type Kind = "blank" | "heading" | "rule" | "item" | "step" | "quote" | "text";

function kindOf(line: string): Kind {
  const start = line.trim().slice(0, 8);
  if (start === "") return "blank";
  if (/^#{1,6} /.test(start)) return "heading";
  if (/^(?:---|\*\*\*)$/.test(line.trim())) return "rule";
  if (/^[-*+] /.test(start)) return "item";
  if (/^\d{1,3}[.)] /.test(start)) return "step";
  return start.startsWith(">") ? "quote" : "text";
}

/** Whether a line goes on with the block before it. */
function joins(block: Kind, line: Kind): boolean {
  if (block === "heading" || block === "rule") return false;
  return line === block || (line === "text" && (block === "item" || block === "step"));
}

function blockOf(kind: Kind, lines: string[]): Markup | undefined {
  switch (kind) {
    case "blank":
      return undefined;
    case "rule":
      return markup`<hr />`;
    case "heading": {
      const [, marks = "", words = ""] = /^(#{1,6}) (.*)$/s.exec(lines[0]!.trim()) ?? [];
      return marks.length < 3 ? markup`<h2>${inlineOf(words)}</h2>` : markup`<h3>${inlineOf(words)}</h3>`;
    }
    case "item":
      return markup`<ul>${itemsOf(lines, kind)}</ul>`;
    case "step":
      return markup`<ol>${itemsOf(lines, kind)}</ol>`;
    case "quote":
      return markup`<blockquote><p>${linesOf(lines.map((line) => line.trim().replace(/^> ?/, "")))}</p></blockquote>`;
    case "text":
      return markup`<p>${linesOf(lines)}</p>`;
  }
}

function itemsOf(lines: string[], kind: Kind): Markup[] {
  const items: string[][] = [];
  for (const line of lines) {
    const text = line.trim();
    if (kindOf(line) === kind) items.push([text.slice(text.indexOf(" ") + 1)]);
    else items.at(-1)!.push(text);
  }
  return items.map((item) => markup`<li>${linesOf(item)}</li>`);
}

/** A line that ends with two spaces ends there on the page too, as owners expect of an address. */
function linesOf(lines: string[]): Markup[] {
  return lines.map((line, index) => {
    const end = index === lines.length - 1 ? "" : "\n";
    return markup`${inlineOf(line.trim())}${line.endsWith("  ") && end !== "" ? markup`<br />` : end}`;
  });
}

type Found = { end: number; shown: Markup };

/** How far the end of a link or of marked words is looked for. */
const reachMax = 800;

function inlineOf(text: string): Markup {
  const parts: (Markup | string)[] = [];
  let plain = 0;
  for (let at = 0; at < text.length;) {
    const found = foundAt(text, at);
    if (found === undefined) at += 1;
    else {
      parts.push(text.slice(plain, at), found.shown);
      at = plain = found.end;
    }
  }
  parts.push(text.slice(plain));
  return markup`${parts}`;
}

/** The link or the marked words that begin at a place. Marks without a partner are text, and so is a link to an address that is not allowed. */
function foundAt(text: string, at: number): Found | undefined {
  switch (text[at]) {
    case "[":
      return linkIn(text.slice(at, at + reachMax), at);
    case "*": {
      const isStrong = text[at + 1] === "*";
      return markedIn(text.slice(at, at + reachMax), at, isStrong ? "**" : "*");
    }
    case "_":
      return /[\p{L}\p{N}]/u.test(text[at - 1] ?? "") ? undefined : markedIn(text.slice(at, at + reachMax), at, "_");
    default:
      return undefined;
  }
}

function linkIn(text: string, at: number): Found | undefined {
  const middle = text.indexOf("](");
  const end = middle < 0 ? -1 : text.indexOf(")", middle);
  const label = text.slice(1, Math.max(1, middle));
  const link = end < 0 || label === "" || label.includes("[") ? undefined : linkOf(text.slice(middle + 2, end));
  return link === undefined ? undefined : { end: at + end + 1, shown: markup`<a href="${link}">${label}</a>` };
}

function markedIn(text: string, at: number, mark: string): Found | undefined {
  const end = text.indexOf(mark, mark.length);
  const words = text.slice(mark.length, Math.max(mark.length, end));
  if (words.trim() === "" || words !== words.trim()) return undefined;
  return { end: at + end + mark.length, shown: mark === "**" ? markup`<strong>${words}</strong>` : markup`<em>${words}</em>` };
}

/** A path of the site or an address that is allowed. */
function linkOf(address: string): string | undefined {
  return isOwnPath(address) ? address : parseLink(address);
}
