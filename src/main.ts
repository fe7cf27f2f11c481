import { petstore } from "./commands/petstore.ts";

// A reader that has seen enough, as in `petstore settings | head -1`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

process.exitCode = await petstore(process.argv.slice(2), process);
