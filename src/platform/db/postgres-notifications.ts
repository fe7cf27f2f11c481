import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { settingsOf } from "./postgres-connections.ts";
import { openSession } from "./postgres-sessions.ts";

/** How long (ms) after a failure the connection is opened again. */
const pauseMs = 1_000;

export type Notifications = {
  /** Sends a message if the connection is open. A message may be lost, so receivers also poll. */
  send(channel: string, payload: string): Promise<void>;
  close(): Promise<void>;
};

type Options = {
  channels: readonly string[];
  onMessage: (channel: string, payload: string) => void;
  /** Called when the connection listens again after it was lost: messages may have been missed. */
  onMissed: () => void;
  onError: (error: unknown) => void;
};

/** Listens to channels of PostgreSQL on a separate connection. Opens the connection again when it breaks. */
export function openNotifications(url: string, { channels, onMessage, onMissed, onError }: Options): Notifications {
  const closing = new AbortController();
  let current: pg.Client | undefined;

  const settings = `${settingsOf()}; SET synchronous_commit = off; ${channels.map((channel) => `LISTEN ${channel}`).join("; ")}`;

  async function connect(): Promise<pg.Client> {
    const { client } = await openSession(url, settings);
    client.on("notification", ({ channel, payload = "" }) => onMessage(channel, payload));
    return client;
  }

  async function listen(): Promise<void> {
    let isAway = false;
    for (let isFirst = true; !closing.signal.aborted; isFirst = false) {
      try {
        const client = await connect();
        const ended = new Promise((resolve) => client.once("end", resolve));
        current = client;
        isAway = false;
        if (closing.signal.aborted) await client.end();
        else if (!isFirst) onMissed();
        await ended;
      } catch (error) {
        if (!isAway) onError(error);
        isAway = true;
      }
      current = undefined;
      await sleep(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  }

  const listening = listen();
  return {
    async send(channel, payload) {
      await current?.query({ name: "notify", text: "SELECT pg_notify($1, $2)", values: [channel, payload] });
    },
    async close() {
      closing.abort();
      await current?.end().catch(() => undefined);
      await listening;
    },
  };
}
