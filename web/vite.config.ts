import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Where `npm run web` finds the service; its own port is 5173. */
const service = "http://localhost:8080";

/** A typeface that arrives after the first paint is used from the next page load on: a heading that wraps anew would move the page. */
export const stillFonts: Plugin = {
  name: "still-fonts",
  enforce: "pre",
  transform: (code, id) =>
    id.includes("@fontsource-variable") ? code.replaceAll("font-display: swap", "font-display: optional") : undefined,
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react(), stillFonts],
  // the builds for browsers, under the names by which the service imports the others
  resolve: {
    alias: [
      { find: /^csv-parse$/, replacement: "csv-parse/browser/esm" },
      { find: /^csv-stringify\/sync$/, replacement: "csv-stringify/browser/esm/sync" },
    ],
  },
  worker: { format: "es", rolldownOptions: { checks: { bundlerTimings: false } } },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: ["chrome120", "firefox120", "safari17"],
    // the Content-Security-Policy forbids data: URLs
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // on a slow machine the bundler would print which plugins took longest
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: { proxy: { "/v1": service, "/dashboard/v1": service, "/openapi.json": service, "/openapi.yaml": service } },
});
