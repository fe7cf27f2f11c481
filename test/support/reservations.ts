import { request } from "node:http";
import { text } from "node:stream/consumers";
import { visitSite } from "./storefront.ts";

export type FormReply = { status: number; headers: Record<string, unknown>; body: string };

/** Posts a form to an address of the edge, which no name server knows. Default: as a browser does from a page of the site. */
export function postForm(
  url: string,
  path: string,
  fields: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<FormReply> {
  const { promise, resolve, reject } = Promise.withResolvers<FormReply>();
  const { port, host } = new URL(url);
  const body = typeof fields === "string" ? fields : new URLSearchParams(fields).toString();
  const sent = {
    host,
    "content-type": "application/x-www-form-urlencoded",
    "content-length": `${Buffer.byteLength(body)}`,
    origin: url,
    "sec-fetch-site": "same-origin",
    ...headers,
  };
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ""));
  request({ host: "127.0.0.1", port, path, method: "POST", headers: given, agent: false }, (response) => {
    text(response).then((shown) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: shown }), reject);
  })
    .on("error", reject)
    .end(body);
  return promise;
}

/** Opens the form of an animal, and returns the hidden fields that it has. */
export async function openForm(url: string, petId: number): Promise<Record<string, string>> {
  return hiddenIn((await visitSite(url, `/animals/${petId}/reserve`)).body);
}

/** The hidden fields of a page's form. */
export function hiddenIn(body: string): Record<string, string> {
  const hidden = body.matchAll(/<input\s+type="hidden"\s+name="(\w+)"\s+value="([^"]*)"/g);
  return Object.fromEntries([...hidden].map(([, name, value]) => [name!, value!]));
}

export const ann = { name: "Ann Smith", email: "ann@example.com", phone: "", note: "Is he good with cats?", website: "" };
