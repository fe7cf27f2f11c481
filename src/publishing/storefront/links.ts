const schemes = new Set(["http:", "https:", "mailto:", "tel:"]);
const linkLengthMax = 500;

/** Returns a link of a shop's text as browsers read it; undefined unless its scheme is http, https, mailto or tel, and it has no user or password. */
export function parseLink(text: string): string | undefined {
  if (text.length > linkLengthMax || !/^(?:https?:\/\/|mailto:|tel:)/i.test(text) || /[\s\p{Cc}]/u.test(text)) return undefined;
  const url = URL.parse(text);
  if (url === null || !schemes.has(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  return url.href;
}

/** Whether a link is a path of the site itself. */
export function isOwnPath(text: string): boolean {
  return text.length <= linkLengthMax && /^\/(?!\/)[\w./?=&%#-]*$/.test(text);
}

/** The path of a file of the deployment. */
export const pathTo = (file: string): string => `/${file.split("/").map(encodeURIComponent).join("/")}`;

/** The networks whose names pages show, by the end of the host's name. */
const networks: [string, string][] = [
  ["instagram.com", "Instagram"],
  ["facebook.com", "Facebook"],
  ["tiktok.com", "TikTok"],
  ["youtube.com", "YouTube"],
  ["youtu.be", "YouTube"],
  ["x.com", "X"],
  ["twitter.com", "X"],
  ["threads.net", "Threads"],
  ["linkedin.com", "LinkedIn"],
  ["pinterest.com", "Pinterest"],
  ["bsky.app", "Bluesky"],
  ["whatsapp.com", "WhatsApp"],
  ["wa.me", "WhatsApp"],
  ["t.me", "Telegram"],
];

/** The name of the network of an address, or the host's name. */
export function networkOf(link: string): string {
  const host = new URL(link).hostname;
  const known = networks.find(([domain]) => host === domain || host.endsWith(`.${domain}`));
  return known?.[1] ?? host.replace(/^www\./, "");
}

/** Whether the system knows a time zone of this name. Offsets such as `+02:00` are none: they know no summer time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
