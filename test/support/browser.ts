import { after } from "node:test";
import { chromium, type Browser } from "playwright-core";
import { programNamed } from "./programs.ts";

const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/**
 * Starts the system's Chromium, with these arguments too. As root it has no sandbox, and shows only pages of the project. Its headless
 * shell comes first: it takes a third less CPU time, since it draws no window.
 */
export function startBrowser(args: string[] = []): Promise<Browser> {
  const executablePath = browserProgram();
  // without a locale in UTF-8, Chromium cannot open a file whose name has other letters than those of ASCII
  const env = { ...process.env, LANG: "C.UTF-8" };
  // Pages of one site in one context share a process. What V8's optimizing compilers gain, a page of a test is too short to use.
  const all = ["--renderer-process-limit=1", "--js-flags=--no-opt --no-maglev", ...args];
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox", ...all] : all, env });
}

/** The path of the system's Chromium. @throws Error if there is none */
export function browserProgram(): string {
  const program = programNamed(names);
  if (program === undefined) throw new Error(`none of ${names.join(", ")} is on the PATH`);
  return program;
}

/** The browser of all files that this process runs. */
let shared: Promise<Browser> | undefined;

async function sharedBrowser(): Promise<Browser> {
  const browser = startBrowser();
  after(async () => (await browser).close());
  return browser;
}

/** A browser and what it looks at, as `open` gives it: for all tests of a file, and closed after the last of the process. */
export async function stage<Seen extends { close(): Promise<void> }>(open: () => Promise<Seen>): Promise<[Browser, Seen]> {
  shared ??= sharedBrowser(); // first, so that it closes before what it looks at
  const [browser, seen] = await Promise.all([shared, open()]);
  after(() => seen.close());
  return [browser, seen];
}
