import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { typeface } from "../typeface.ts";
import { unusedStyles } from "../unused-styles.ts";

/** The API reference as static files, which `petstore init --reference` copies into the folder `reference` of a site. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  publicDir: fileURLToPath(new URL("../public", import.meta.url)),
  base: "/reference/",
  plugins: [react(), typeface, unusedStyles],
  build: {
    emptyOutDir: false,
    target: ["chrome120", "firefox120", "safari17"],
    // the Content-Security-Policy forbids data: URLs
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    cssCodeSplit: false,
    // on a slow machine the bundler would print which plugins took longest
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
