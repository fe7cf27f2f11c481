import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { announcedBytes, streamBody } from "../../platform/http/bodies.ts";
import type { FairShare } from "../../platform/jobs/fair-share.ts";
import { runInTurn } from "../../platform/jobs/fair-share.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import { isReservationPath } from "../storefront/reservation-forms.ts";
import type { AnswerReservation } from "../storefront/reservations.ts";
import type { RenderedPage, Shop } from "../storefront/storefront.ts";
import { type Answer, text } from "./files.ts";
import { parseTarget, type Target } from "./requests.ts";
import type { Visit } from "./visits.ts";

/*
 * The forms of storefronts: the only bodies that the edge reads. It refuses all others unread.
 */

/** The most bytes of a form, and how long (ms) it may take to arrive. The longest note takes 9 KiB in Chinese. */
const formBytesMax = 16 * 1024;
const arrivalMsMax = 10_000;

/** Takes the forms of storefronts, in turns by site and address. */
export type FormDesk = { answer: AnswerReservation; places: FairShare<string> };

/** Whether a request sends a form that a storefront may take: a short one, whose length it announces. */
export function sendsForm(method: string, url: string, headers: IncomingHttpHeaders): boolean {
  if (method !== "POST" || headers["transfer-encoding"] !== undefined) return false;
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(headers["content-type"] ?? "")) return false;
  const bytes = announcedBytes(headers);
  const path = parseTarget(url)?.path;
  return bytes > 0 && bytes <= formBytesMax && path !== undefined && isReservationPath(path);
}

/** Returns the function that receives the form of a request over HTTP/1.1. */
export function receivesForm(request: IncomingMessage): () => Promise<string> {
  return async () => {
    const cut = setTimeout(() => request.destroy(), arrivalMsMax);
    try {
      const pieces: Buffer[] = [];
      for await (const piece of streamBody(request, formBytesMax)) pieces.push(piece);
      return Buffer.concat(pieces).toString("utf8");
    } finally {
      clearTimeout(cut);
    }
  };
}

/** Collects the form of a request over HTTP/2 from the pieces that `dropBody` would drop. */
export function collectForm(): { take: (piece: Buffer) => void; end: (isWhole: boolean) => void; form: () => Promise<string> } {
  const pieces: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  promise.catch(() => undefined); // nothing may wait for it
  const late = setTimeout(() => reject(endedEarly()), arrivalMsMax);
  return {
    take: (piece) => void pieces.push(piece),
    end(isWhole) {
      clearTimeout(late);
      if (isWhole) resolve(Buffer.concat(pieces).toString("utf8"));
      else reject(endedEarly());
    },
    form: () => promise,
  };
}

const endedEarly = () => invalidAt("body", "must be as long as it was announced", "The form ended early.");

/** The answer of a storefront's page with a form, or to a form; undefined for every other request. */
export function formAnswer(shop: Shop, target: Target, visit: Visit, desk: FormDesk): Answer | undefined {
  const { method, form } = visit;
  if (!isReservationPath(target.path)) return undefined;
  if (method === "POST") {
    if (form === undefined) return text(413, "This form cannot be read.");
    if (!isOfSameSite(visit)) return text(403, "This form was sent by a page of another site.");
  } else if (method !== "GET" && method !== "HEAD") return undefined;
  const request = { path: target.path, address: visit.address, requestId: visit.id };
  const pending = (): Promise<Answer> =>
    runInTurn(desk.places, visit.turn, async () => {
      try {
        const body = method === "POST" ? await form?.() : undefined;
        return answerOf(await desk.answer(shop, { ...request, form: body }));
      } catch (error) {
        if (error instanceof Problem && error.code === "invalid_request") return text(400, "This form did not arrive whole.");
        throw error;
      }
    });
  return { status: 200, headers: {}, pending };
}

/**
 * Whether the page that sent a form is of the same site. A browser says so itself (Sec-Fetch-Site), or names the page's origin. It sends none, or
 * "null", if a page hides its address, as that of a link does: then only Sec-Fetch-Site counts. Programs that send neither are refused.
 */
function isOfSameSite({ headers, host }: Visit): boolean {
  const { origin, "sec-fetch-site": from } = headers;
  if (from !== undefined && from !== "same-origin") return false;
  if (origin === undefined || origin === "null") return from === "same-origin";
  return URL.parse(origin)?.hostname === host;
}

/** The answer with a page that is only for this visitor. */
function answerOf({ status, type, body, headers }: RenderedPage): Answer {
  const bytes = body as Buffer;
  return {
    status,
    headers: {
      ...headers,
      "Content-Type": type,
      "Content-Length": bytes.length,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
    body: bytes,
  };
}
