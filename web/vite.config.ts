import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type Rolldown } from "vite";
import { firstLoads } from "./first-loads.ts";
import { unusedStyles } from "./unused-styles.ts";

/** Where `npm run web` finds the service; its own port is 5173. */
const service = "http://localhost:8080";

/** A typeface that arrives after the first paint is used from the next page load on: a heading that wraps anew would move the page. */
export const stillFonts: Plugin = {
  name: "still-fonts",
  enforce: "pre",
  transform: (code, id) =>
    id.includes("@fontsource-variable") ? code.replaceAll("font-display: swap", "font-display: optional") : undefined,
};

/**
 * A few chunks for the modules that several pages need, so that a first load has few files. A group takes what those of higher priority
 * have left, and the dependencies of a module are needed by as many pages as itself: no chunk of pages waits for one of fewer pages.
 */
const groups: Rolldown.CodeSplittingGroup[] = [
  { name: "shared", tags: ["$initial"], priority: 6 },
  {
    // what the reference and the dashboard both have, with all that it needs
    name: "common",
    test: /web\/frame\/(?!markdown)|web\/parts\/search-values|tanstack|components\/(Tabs|TextInput|PasswordInput|NativeSelect|Textarea|File|Checkbox|CloseButton|Group|VisuallyHidden|CopyButton)/,
    minShareCount: 2,
    includeDependenciesRecursively: true,
    priority: 5,
  },
  { name: "reference", test: /web\/reference\/(?!commands|try-it)|docs\/guides|markdown-to-jsx|web\/frame\/markdown/, priority: 4 },
  {
    name: "dialogs",
    test: /web\/(webhooks\/(dialogs|webhook-form|secret-dialog)|orders\/order-(form|dialogs))/,
    minShareCount: 2,
    priority: 3,
  },
  { name: "dashboard", minShareCount: 9, priority: 2 },
  { name: "few", minShareCount: 2, priority: 1 },
];

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react(), stillFonts, firstLoads, unusedStyles],
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
    cssCodeSplit: false,
    // what every page needs is one file
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      // on a slow machine the bundler would print which plugins took longest
      checks: { bundlerTimings: false },
      output: { codeSplitting: { groups, includeDependenciesRecursively: false } },
    },
  },
  server: { proxy: { "/v1": service, "/dashboard/v1": service, "/openapi.json": service, "/openapi.yaml": service } },
});
