import type { ShopEvent } from "../../client/events.ts";
import { Problem } from "../platform/problem.ts";
import { numeric, type Arguments, type Command, type Io, type Options } from "./command.ts";
import { connect, connectionOf, connectionOptions, linesTo, serviceOf, type Environment } from "./connection.ts";

const readingOptions = {
  ...connectionOptions,
  after: { value: "POSITION", about: "begin after this position; 0 is the beginning of the log. Default: from now on" },
  types: { value: "TYPE", about: "only events of this type, such as order.created or order.*; can be repeated", multiple: true },
  "no-follow": { about: "end after the existing events, and do not wait for more" },
} as const satisfies Options;

/** The options of commands that send events to a program, signed like webhooks. */
const forwardingOptions = {
  "forward-to": { value: "URL", about: "where to send the events, such as http://localhost:3000/webhooks", required: true },
  secret: {
    value: "SECRET",
    about: "the secret to sign with: whsec_ and Base64. Default: a new one. A given secret is never printed",
  },
  "print-secret": { about: "print the new secret even if no person is at the terminal; with --json in the field secret" },
} as const satisfies Options;

/** Creates the commands that read the events of an account. `environment` returns the service and key to use if the options name none. */
export function eventCommands(environment: Environment): Command[] {
  return [
    {
      name: "events tail",
      summary: "Print the events of the account as they happen; with --json each as one line of JSON",
      options: readingOptions,
      async run(given, io) {
        for await (const event of await reading(environment, given, io)) {
          io.stdout.write(`${given.json ? JSON.stringify(event) : lineOf(event)}\n`);
        }
        return undefined;
      },
    },
    {
      name: "listen",
      summary: "Send each event of the account to a program on this machine, signed like a webhook, until the program accepts it",
      options: {
        ...readingOptions,
        ...forwardingOptions,
      },
      async run(given, io) {
        const { forward, forwardingOf, signing } = await import("./forwarding.ts");
        const { target, secret, made } = await forwardingOf(given, io);
        if (!given.json) linesTo(io)(`Sending events to ${target}, ${signing(given, made)}`);
        else if (made !== undefined) io.stdout.write(`${JSON.stringify({ secret: made })}\n`);
        for await (const event of await reading(environment, given, io)) {
          const status = await forward(target, secret, event);
          io.stdout.write(
            given.json ? `${JSON.stringify({ position: event.position, type: event.type, status })}\n` : `${status} ${lineOf(event)}\n`,
          );
        }
        return undefined;
      },
    },
    {
      name: "events trigger",
      summary: "Send one made-up event of a type, such as order.created, signed like a webhook, to a program on this machine",
      options: { url: connectionOptions.url, profile: connectionOptions.profile, ...forwardingOptions },
      operands: ["TYPE"],
      async run(given, io) {
        const { trigger } = await import("./trigger.ts");
        return trigger(serviceOf(given.options, environment(io)).url, given, io);
      },
    },
  ];
}

/** The events that the options ask for. */
async function reading(environment: Environment, { options }: Arguments, io: Io): Promise<AsyncIterable<ShopEvent>> {
  const client = await connect(connectionOf(options, environment(io)), linesTo(io));
  const [{ answered }, { events }] = await Promise.all([import("./publishing-calls.ts"), import("../../client/events.ts")]);
  const given = numeric(options["after"]);
  if (given !== undefined && !(Number.isSafeInteger(given) && Number(given) >= 0))
    throw new Problem("invalid_request", "--after must be a position: 0, 1, 2 and so on");
  const after = given === undefined ? (await answered(client.GET("/events/checkpoint"))).position : Number(given);
  const types = options["types"] as string[] | undefined;
  return events(client, { after, follow: options["no-follow"] !== true, ...(types && { types }) });
}

function lineOf({ position, at, type, resource, requestId }: ShopEvent): string {
  return `${position} ${at} ${type} ${resource.type} ${resource.id} ${requestId ?? "-"}`;
}
