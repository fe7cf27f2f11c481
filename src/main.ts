import { catchSignals } from "./app/signals.ts";
import { endWithOutput } from "./commands/output.ts";

// First, so that a signal during the start stops the service in order, and a reload does not end it.
if (process.argv[2] === "serve") {
  catchSignals();
  process.send?.({ petstore: "catching" }); // to the supervisor of a worker
}

endWithOutput(process);

process.channel?.unref(); // a worker ends when its service has stopped, although its supervisor still listens to it
const { petstore } = await import("./commands/commands.ts");
process.exitCode = await petstore(process.argv.slice(2), process);
