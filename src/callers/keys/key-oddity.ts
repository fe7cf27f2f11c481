type Headers = { authorization?: string | undefined; "x-api-key"?: string | string[] | undefined };

/** Marks that a shell, a form or a document puts around a key. Headers are read as Latin-1, in which a curly mark begins with `â`. */
const quoted = /^(["'`<{[(]|â\u0080[\u0098-\u009f])/;
const keyStart = /^ps[kp]_/i;

/**
 * Says what is odd about the form of a key that was refused, without repeating any of it: each sentence is a constant. Undefined if nothing is
 * odd, so the key is unknown, expired or revoked.
 */
export function keyOddity({ authorization, "x-api-key": apiKey }: Headers): string | undefined {
  if (authorization !== undefined) return authorizationOddity(authorization);
  if (typeof apiKey !== "string") return undefined;
  if (/^bearer\b/i.test(apiKey)) return "X-API-Key takes the key alone, without Bearer.";
  return oddityOf(apiKey, "X-API-Key");
}

function authorizationOddity(text: string): string | undefined {
  const name = "Authorization";
  if (text.trim() === "") return `${name} is empty.`;
  if (/^["'`]/.test(text)) return `${name} has quotation marks around its value: send it without them.`;
  if (keyStart.test(text)) return `${name} has a key without a scheme: write Bearer and a space before it.`;
  const rest = /^bearer(.*)$/is.exec(text)?.[1];
  if (rest === undefined) {
    return /[^\x20-\x7e]/.test(text.slice(0, 12)) ? hasInvisible(name) : `${name} has another scheme than Bearer.`;
  }
  if (rest.trim() === "") return `${name} has no key after Bearer.`;
  if (rest.startsWith("\t")) return `${name} has a tab after Bearer, where a space belongs.`;
  if (/^\s*[:=,]/.test(rest)) return `${name} has a colon, comma or equals sign after Bearer, where only a space belongs.`;
  if (!rest.startsWith(" ")) {
    return /^[^\x21-\x7e]/.test(rest) ? hasInvisible(name) : `${name} has no space between Bearer and the key.`;
  }
  if (/^\s*bearer\b/i.test(rest)) return `${name} has Bearer twice.`;
  return oddityOf(rest.trim(), name);
}

function oddityOf(key: string, name: string): string | undefined {
  if (key === "") return `${name} is empty.`;
  if (quoted.test(key)) return `${name} has quotation marks or brackets around the key: send it without them.`;
  if (/[^\x20-\x7e]/.test(key)) return hasInvisible(name);
  if (/\s/.test(key)) return `${name} has a space within the key.`;
  if (!/^ps[kp]_/.test(key)) return `${name} has a value that does not begin as a key does, with psk_ or psp_.`;
  if (/\W/.test(key)) return `${name} has a key with a character that no key has: only letters and digits follow psk_ or psp_.`;
  return key.length === 40
    ? undefined
    : `${name} has a key that is ${key.length < 40 ? "too short" : "too long"}: a key has 40 characters.`;
}

const hasInvisible = (name: string): string => `${name} has a character that is invisible or not ASCII: type or copy the key again.`;
