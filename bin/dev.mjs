// `npm run dev`: runs the service, restarted whenever one of its files changes, and Vite's server for the pages at http://localhost:5173,
// which proxies calls to the service. When one of them ends, ends the other.
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
