import { randomBytes } from "node:crypto";
import type { ShopEvent } from "../../client/events.ts";
import { Problem } from "../platform/problem.ts";
import type { Arguments, Io } from "./command.ts";

/** How long one message may take, as for a webhook. */
const answerMs = 10_000;
/** How long a message that is not accepted is sent again before the command ends. */
const patienceMs = 60_000;
const [pauseFirstMs, pauseMsMax] = [250, 8_000];

/** `made` is the secret if this command made it and may show it: with --print-secret, or in text to a person at a terminal. */
type Forwarding = { target: string; secret: string; made: string | undefined };

/** Where to send, and with which secret. @throws Problem `invalid_request` */
export async function forwardingOf({ options, json }: Arguments, { stderr }: Io): Promise<Forwarding> {
  const target = targetOf(String(options["forward-to"]));
  const given = options["secret"] as string | undefined;
  const secret = given ?? `whsec_${randomBytes(24).toString("base64")}`;
  const { signWebhook } = await import("../../client/webhooks.ts");
  await signWebhook(secret, "check", 0, "").catch((error: Error) => {
    throw new Problem("invalid_request", `--secret: ${error.message}`);
  });
  const isShown = options["print-secret"] === true || (stderr.isTTY === true && !json);
  return { target, secret, made: given === undefined && isShown ? secret : undefined };
}

/** Says how messages are signed. Never repeats a secret that was given. */
export function signing({ options }: Arguments, made: string | undefined): string {
  if (options["secret"] !== undefined) return "signed with the secret that was given";
  return made === undefined ? "signed with a new secret, which --print-secret prints" : `signed with ${made}`;
}

function targetOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url.href;
  throw new Problem("invalid_request", "--forward-to must be an http or https address without a user");
}

/** Sends an event until it is accepted. @throws Problem `unavailable` after a minute; its message says how to go on */
export async function forward(target: string, secret: string, event: ShopEvent): Promise<number> {
  const body = JSON.stringify({ timestamp: event.at, ...event });
  const { realTiming } = await import("../../client/timing.ts");
  const until = realTiming.now() + patienceMs;
  for (let pauseMs = pauseFirstMs; ; pauseMs = Math.min(pauseMsMax, pauseMs * 2)) {
    const answer = await send(target, secret, event.id, body);
    if (isAccepted(answer)) return answer;
    if (realTiming.now() + pauseMs > until) {
      const why = whyNotAccepted(answer);
      throw new Problem(
        "unavailable",
        `${target} did not accept event ${event.position} (${why}). Go on with --after ${event.position - 1}`,
      );
    }
    await realTiming.wait(pauseMs);
  }
}

/** Whether the result of `send` means that the message was accepted: a status of 2xx. */
export function isAccepted(answer: number | string): answer is number {
  return typeof answer === "number" && answer >= 200 && answer < 300;
}

export function whyNotAccepted(answer: number | string): string {
  return typeof answer === "number" ? `it answered ${answer}` : answer;
}

/** Sends a message once. Returns the status of the answer, or why there was none. */
export async function send(target: string, secret: string, id: string, body: string): Promise<number | string> {
  const [{ signWebhook }, { realTiming }] = await Promise.all([import("../../client/webhooks.ts"), import("../../client/timing.ts")]);
  const signed = await signWebhook(secret, id, Math.floor(realTiming.now() / 1_000), body);
  const headers = { "content-type": "application/json", ...signed };
  try {
    const answer = await fetch(target, { method: "POST", headers, body, redirect: "manual", signal: AbortSignal.timeout(answerMs) });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return cause?.code ?? message;
  }
}
