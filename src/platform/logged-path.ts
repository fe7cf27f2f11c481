/** The length of the shortest secret below. Most paths are shorter, and are not searched. */
const lengthMin = 30;
/** API keys, secrets of webhooks, and the tokens of sign-in links and sessions (43 characters), with their underscore in either spelling. */
const secrets = /(ps[kp](?:_|%5f))[0-9a-z]{36}|(whsec(?:_|%5f))[\w+/=%-]{20,}|(?<![\w-])[\w-]{43}(?![\w-])/gi;

/** The path of a URL as logs and spans show it: without its query, and without secrets that a caller put there by mistake. */
export function loggedPath(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  if (path.length < lengthMin) return path;
  return path.replaceAll(secrets, (_all, key?: string, webhook?: string) => `${key ?? webhook ?? ""}***`);
}
