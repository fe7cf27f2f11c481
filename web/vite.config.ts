import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Where `npm run web` finds the service; its own port is 5173. */
const service = "http://localhost:8080";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: ["chrome120", "firefox120", "safari17"],
    // a data: URL would need an exception in the Content-Security-Policy
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": service, "/openapi.json": service, "/openapi.yaml": service } },
});
