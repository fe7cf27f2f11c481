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
