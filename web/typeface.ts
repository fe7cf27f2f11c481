import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

const styles = createRequire(import.meta.url).resolve("@fontsource-variable/inter/index.css");
/** The file with the letters of English, which every page needs, and its rule in the styles of the package. */
const file = "inter-latin-wght-normal.woff2";
const rule = /@font-face \{[^}]*inter-latin-wght-normal\.woff2[^}]*\}/;

/**
 * Loads the typeface with the page (decision 90): the page asks for its main file at once, and `web/public/before-paint.js` shows the page when the
 * file is there. Letters beyond English are in more files, which a page uses from its next load if they come late.
 */
export const typeface: Plugin = {
  name: "typeface",
  enforce: "pre",
  transform: (code, id) =>
    id.includes("@fontsource-variable") ? code.replace(rule, "").replaceAll("font-display: swap", "font-display: optional") : undefined,
  generateBundle() {
    this.emitFile({ type: "asset", name: file, source: readFileSync(pathOfFile()) });
  },
  transformIndexHtml: {
    order: "post",
    handler: (html, { bundle }) => {
      const asset = Object.keys(bundle ?? {}).find((name) => /inter-latin-wght-normal[^/]*\.woff2$/.test(name));
      const address = asset === undefined ? `/@fs${pathOfFile()}` : base(html) + asset;
      const range = /unicode-range: ([^;]+);/.exec(rule.exec(readFileSync(styles, "utf8"))?.[0] ?? "")?.[1] ?? "";
      const own = `<script src="/before-paint.js" data-typeface="${address}" data-range="${range}">`;
      const preload = `<link rel="preload" href="${address}" as="font" type="font/woff2" crossorigin />\n    `;
      return html.replace(
        /<script src="([^"]*\/)before-paint\.js">/,
        (_, folder: string) => preload + own.replace('src="/', `src="${folder}`),
      );
    },
  },
};

/** The folder of the built files, as the page names its own script. */
function base(html: string): string {
  return /<script src="([^"]*\/)before-paint\.js"/.exec(html)?.[1] ?? "/";
}

function pathOfFile(): string {
  return join(dirname(styles), "files", file);
}
