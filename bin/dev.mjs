// `npm run dev`: the service, started again whenever a file of it changes, and the pages by vite's own server at http://localhost:5173,
// which passes calls on to the service. Ends both when either ends.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const start = (...args) => spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
const both = [
  start("--watch", "--watch-preserve-output", "src/main.ts", "serve"),
  start("web/node_modules/vite/bin/vite.js", "--config", "web/vite.config.ts"),
];

for (const child of both) {
  child.on("exit", (code) => {
    process.exitCode ??= code ?? 0;
    for (const other of both) other.kill("SIGTERM");
  });
}
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => both.forEach((child) => child.kill(signal)));
