import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { addressName } from "../../platform/addresses.ts";
import { runInTurn, type FairShare } from "../../platform/jobs/fair-share.ts";
import { invalidAt } from "../../platform/problem.ts";

/** What one hash by Argon2id (RFC 9106) costs. */
export type HashCost = { memoryKiB: number; passes: number };

/** The cost that OWASP's Password Storage Cheat Sheet asks for, with one lane. */
const owaspCost: HashCost = { memoryKiB: 19_456, passes: 2 };
const hashBytes = 32;

const passwordLengthMin = 10;
export const passwordLengthMax = 256;

/**
 * Checks a password before it is set: 10 to 256 characters, not the email, and not a common one.
 *
 * @throws Problem `invalid_request`
 */
export async function requireGoodPassword(password: string, email: string): Promise<void> {
  const message = await weaknessOf(password, email);
  if (message) throw invalidAt("body.password", message, `password ${message}.`);
}

async function weaknessOf(password: string, email: string): Promise<string | undefined> {
  const length = [...password].length;
  if (length < passwordLengthMin || length > passwordLengthMax) return `must be ${passwordLengthMin} to ${passwordLengthMax} characters`;
  if (password.toLowerCase() === email.toLowerCase()) return "must not be the email";
  if (await isCommonPassword(password)) return "is too common: attackers try it first";
  return undefined;
}

export type PasswordHasher = {
  /**
   * Returns a password's PHC string: the same for the same password and salt.
   *
   * @param by whose turn it takes: a member who is signed in, or the address that signs in
   * @throws Problem `unavailable` if too many requests wait
   */
  hash(password: string, salt: string, by: Asker): Promise<string>;
};
export type Asker = { accountId: number; memberId: number } | { address: string };

/** Opens a hasher. It uses few threads of the pool at once, so a burst of sign-ins takes neither all memory nor all threads. */
export function openPasswordHasher(turns: FairShare<string>, cost = owaspCost): PasswordHasher {
  return { hash: (password, salt, by) => runInTurn(turns, keyOf(by), () => compute(password, salt, cost)) };
}

function keyOf(by: Asker): string {
  return "address" in by ? addressName(by.address) : `member ${by.accountId}/${by.memberId}`;
}

/** Whether two PHC strings are equal, in a time that does not reveal where they differ. */
export function samePassword(one: string, other: string | null): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other ?? "")];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Creates a random salt. */
export function newSalt(): string {
  return randomBytes(16).toString("base64url");
}

/** Normalizes the password first, so that different encodings of the same characters match (RFC 8265, 4.2). */
function compute(password: string, salt: string, { memoryKiB, passes }: HashCost): Promise<string> {
  const message = Buffer.from(password.normalize("NFC"));
  const nonce = Buffer.from(salt, "base64url");
  const parameters = { message, nonce, parallelism: 1, tagLength: hashBytes, memory: memoryKiB, passes };
  return new Promise((resolve, reject) => {
    argon2("argon2id", parameters, (error, tag) => {
      if (error) reject(error);
      else resolve(`$argon2id$v=19$m=${memoryKiB},t=${passes},p=1$${unpadded(nonce)}$${unpadded(tag)}`);
    });
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

/** The 49,000 most common passwords in leaks. Loaded at the first use. */
let loading: Promise<ReadonlySet<string>> | undefined;

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  return new Set<string>(dictionary["passwords-common"].map(String));
}

/**
 * Whether a password is among the first that an attacker tries: a common one in upper or lower case, also with digits or
 * signs after it, or a run such as `aaaaaaaaaa` or `0123456789`.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  const folded = password.normalize("NFKC").toLowerCase();
  if (isRun(folded)) return true;
  loading ??= load();
  const common = await loading;
  const word = withoutSuffix(folded);
  return common.has(folded) || (word.length >= 4 && common.has(word));
}

/** The text without the digits and signs at its end. */
function withoutSuffix(text: string): string {
  let end = text.length;
  while (end > 0 && !/\p{L}/u.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** `aaaaaaaaaa`, `0123456789`, `jihgfedcba`. */
function isRun(text: string): boolean {
  const step = text.charCodeAt(1) - text.charCodeAt(0);
  if (Math.abs(step) > 1) return false;
  for (let i = 1; i < text.length; i++) if (text.charCodeAt(i) - text.charCodeAt(i - 1) !== step) return false;
  return true;
}
