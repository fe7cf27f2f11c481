import { createHash } from "node:crypto";
import { transform } from "lightningcss";
import type { Plugin } from "vite";

/** A class in Mantine's rules. Mantine's scripts never build these names from parts, so a class that no script contains is unused. */
const mantineClass = /(?<=\.)m_[\da-f]+/g;

/** Removes the styles of components that no page uses, which are most of Mantine's. Renames each stylesheet after its new content. */
export const unusedStyles: Plugin = {
  name: "unused-styles",
  generateBundle: {
    order: "post",
    handler(_options, bundle) {
      const outputs = Object.values(bundle);
      const scripts = outputs.flatMap((output) => (output.type === "chunk" ? output.code : [])).join("\n");
      const assets = outputs.filter((output) => output.type === "asset");
      for (const { fileName, source } of assets.filter((asset) => asset.fileName.endsWith(".css"))) {
        const code = used(Buffer.from(source), scripts);
        const hash = createHash("sha256").update(code).digest("base64url").slice(0, 8);
        const renamed = fileName.replace(/-[\w-]{8}\.css$/, `-${hash}.css`);
        delete bundle[fileName];
        this.emitFile({ type: "asset", fileName: renamed, source: code });
        for (const page of assets.filter((asset) => asset.fileName.endsWith(".html")))
          page.source = page.source.toString().replaceAll(fileName, renamed);
      }
    },
  },
};

/** The rules for classes that the scripts name. */
function used(styles: Uint8Array, scripts: string): Uint8Array {
  const classes = new Set(styles.toString().match(mantineClass));
  const unusedSymbols = [...classes].filter((name) => !scripts.includes(name));
  return transform({ filename: "styles.css", code: styles, minify: true, unusedSymbols }).code;
}
