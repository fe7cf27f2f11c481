import type { ReferenceText } from "./reference-texts.ts";

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
