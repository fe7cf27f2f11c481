import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Where `npm run web` finds the service; its own port is 5173. */
const service = "http://localhost:8080";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react()],
  // the builds for browsers, under the names by which the service imports the others
  resolve: {
    alias: [
      { find: /^csv-parse$/, replacement: "csv-parse/browser/esm" },
      { find: /^csv-stringify\/sync$/, replacement: "csv-stringify/browser/esm/sync" },
    ],
  },
  worker: { format: "es" },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: ["chrome120", "firefox120", "safari17"],
    // the Content-Security-Policy forbids data: URLs
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": service, "/dashboard/v1": service, "/openapi.json": service, "/openapi.yaml": service } },
});
