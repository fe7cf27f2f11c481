import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./folder.ts";
import { freePort } from "./ports.ts";
import type { Ending } from "./process.ts";

const program = fileURLToPath(new URL("../../node_modules/s3rver/bin/s3rver.js", import.meta.url));

/** An S3 server in a process of its own, which knows one access key, with one bucket. */
export type S3Process = { env: Record<string, string>; objects: () => string[]; stop: () => Promise<void> };

export async function startS3(t: Ending, bucket: string): Promise<S3Process> {
  const folder = temporaryFolder(t);
  const port = await freePort();
  const child = spawn(process.execPath, [program, "-d", folder, "-a", "127.0.0.1", "-p", String(port), "--configure-bucket", bucket], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  t.after(stop);
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  while (!out.includes("listening")) await once(child.stdout, "data");
  const env = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "S3RVER",
    AWS_SECRET_ACCESS_KEY: "S3RVER",
  };
  const objects = (): string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith("_object"))
      .map((name) => name.slice(0, -"._S3rver_object".length))
      .toSorted();
  return { env, objects, stop };
}
