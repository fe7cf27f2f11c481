import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The API reference as static files for the folder `reference` of a published project; `petstore init --reference` builds it there. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  publicDir: fileURLToPath(new URL("../public", import.meta.url)),
  base: "/reference/",
  plugins: [react()],
  build: {
    emptyOutDir: false,
    target: ["chrome120", "firefox120", "safari17"],
    // a data: URL would need an exception in the Content-Security-Policy
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
