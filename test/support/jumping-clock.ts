import { chmodSync, globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryFolder } from "./folder.ts";

const library = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1")[0] ?? "";
/** Runs hourly work many times a second. */
const hurry = "const set = setInterval; globalThis.setInterval = (work, ms, ...more) => set(work, Math.min(ms, 200), ...more);";

/** The clock of one process, which `jump` sets: to `+40d`, and to `+0` for the right time. */
export function jumpingClock(t: TestContext) {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755); // PostgreSQL runs as another user
  const file = join(folder, "clock");
  const jump = (offset: string): void => writeFileSync(file, `${offset}\n`);
  jump("+0");
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hurry)}`,
  };
  return { jump, env };
}
