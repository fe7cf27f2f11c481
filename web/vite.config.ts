import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type Rolldown } from "vite";
import { firstLoads } from "./first-loads.ts";
import { typeface } from "./typeface.ts";
import { unusedStyles } from "./unused-styles.ts";

/** The service that Vite's server proxies calls to. Vite's server itself has port 5173. */
const service = "http://localhost:8080";

/** Refuses a module of Node, which Vite would replace by an empty one. */
const noNode: Plugin = {
  name: "no-node",
  enforce: "pre",
  resolveId(id, importer) {
    if (id.startsWith("node:")) this.error(`${importer} imports ${id}, which browsers do not have`);
  },
};

/**
 * Puts the modules that several pages need into a few chunks, so that a first load has few files. A group takes the modules that groups of
 * higher priority have left. At least as many pages need a module's dependencies as the module, so no chunk waits for one of fewer pages.
 */
const groups: Rolldown.CodeSplittingGroup[] = [
  { name: "shared", tags: ["$initial"], priority: 6 },
  {
    // modules that both the reference and the dashboard use, with their dependencies
    name: "common",
    test: /web\/frame\/(?!markdown)|web\/parts\/search-values|tanstack|components\/(Tabs|TextInput|PasswordInput|NativeSelect|Textarea|File|Checkbox|CloseButton|Group|VisuallyHidden|CopyButton)/,
    minShareCount: 2,
    includeDependenciesRecursively: true,
    priority: 5,
  },
  { name: "reference-texts", test: /web\/texts\/en-reference/, priority: 5 },
  { name: "reference", test: /web\/reference\/(?!commands|try-it)|docs\/guides|markdown-to-jsx|web\/frame\/markdown/, priority: 4 },
  {
    name: "dialogs",
    test: /web\/(webhooks\/(dialogs|webhook-form|secret-dialog)|orders\/order-(form|dialogs))/,
    minShareCount: 2,
    priority: 3,
  },
  {
    name: "animal",
    test: /web\/(pets\/(animal|fact|chosen|photo|price\.|use-photos|use-drag|profile)|inventory\/stock-panel|parts\/(save-bar|page-guard)|texts\/en-(animal|profile))|useBlocker/,
    minShareCount: 2,
    priority: 6,
  },
  { name: "domains", test: /web\/(domains\/|texts\/en-domains)/, minShareCount: 2, priority: 3 },
  { name: "shop", test: /web\/(projects\/shop|texts\/en-shop)|src\/publishing\/storefront/, minShareCount: 2, priority: 3 },
  { name: "factors", test: /web\/texts\/en-factors/, minShareCount: 2, priority: 3 },
  { name: "bin", test: /web\/(bin\/(queries|returning)|texts\/en-bin)/, minShareCount: 2, priority: 3 },
  {
    name: "changes",
    test: /client\/(gate|limits|sending|timing)|web\/(calls\/(changes|patient)|pets\/bulk\.module)/,
    minShareCount: 2,
    priority: 3,
  },
  { name: "dashboard", minShareCount: 13, priority: 2 },
  { name: "few", minShareCount: 2, priority: 1 },
];

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [noNode, react(), typeface, firstLoads, unusedStyles],
  // the browser builds of packages, under the names by which the service imports their Node builds
  resolve: {
    alias: [{ find: /^csv-stringify\/sync$/, replacement: "csv-stringify/browser/esm/sync" }],
  },
  worker: { format: "es", plugins: () => [noNode], rolldownOptions: { checks: { bundlerTimings: false } } },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: ["chrome120", "firefox120", "safari17"],
    // the Content-Security-Policy forbids data: URLs
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    cssCodeSplit: false,
    // the modules that every page needs are in one file
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      // on a slow machine the bundler would print which plugins took longest
      checks: { bundlerTimings: false },
      output: { codeSplitting: { groups, includeDependenciesRecursively: false } },
    },
  },
  server: { proxy: { "/v1": service, "/dashboard/v1": service, "/openapi.json": service, "/openapi.yaml": service } },
});
