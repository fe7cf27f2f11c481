import { createCache } from "../../platform/cache.ts";
import { inlineSource, Markup, markup } from "../storefront/markup.ts";
import type { Answer } from "./files.ts";
import type { Visit } from "./visits.ts";

const titles: Record<number, string> = {
  400: "This address cannot be read",
  403: "This was not sent",
  404: "Not found",
  405: "This cannot be changed here",
  413: "This is too long",
  421: "Please load this page again",
  500: "Something went wrong",
  503: "Not available at the moment",
};

const style = `:root{color-scheme:light dark;--page:light-dark(#faf9f6,#131417);--text:light-dark(#1c2024,#ecebe7);--quiet:light-dark(#575e68,#abb0ba);--accent:light-dark(#0b6b58,#5fd3b5)}
*{box-sizing:border-box}body{display:grid;min-height:100vh;min-height:100dvh;margin:0;place-items:center;background:var(--page);color:var(--text);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main{width:min(100%,36rem);padding:2rem 1.25rem;text-align:center}.status{margin:0;color:var(--accent);font-size:clamp(3.5rem,14vw,6rem);font-weight:700;line-height:1;letter-spacing:-.04em}
h1{margin:1rem 0 0;font-size:1.6rem;line-height:1.25;letter-spacing:-.015em}p{margin:.5rem 0 0;color:var(--quiet)}`;

const policy = `default-src 'none'; style-src ${inlineSource(style)}; base-uri 'none'; form-action 'none'`;

/** Few: each refusal is a fixed text. */
const pages = createCache<string, Buffer>(100);

/** The answer as a browser shows it: a refusal in plain text becomes a page for those who ask for HTML, as browsers do and programs do not. */
export function shownTo({ headers: { accept } }: Visit, answer: Answer): Answer {
  const { status, body, headers } = answer;
  if (typeof body !== "string" || titles[status] === undefined || accept?.includes("text/html") !== true) return answer;
  const key = `${status} ${body}`;
  const page = pages.peek(key) ?? pages.set(key, Buffer.from(pageOf(status, titles[status], body).text));
  const own = { "Content-Type": "text/html; charset=utf-8", "Content-Length": page.length, "Content-Security-Policy": policy };
  return { ...answer, headers: { ...headers, ...own }, body: page };
}

function pageOf(status: number, title: string, text: string): Markup {
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <style>${new Markup(style)}</style>
      </head>
      <body>
        <main>
          <p class="status">${status}</p>
          <h1>${title}</h1>
          <p>${text}</p>
        </main>
      </body>
    </html>`;
}
