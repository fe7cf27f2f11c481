import { normalize } from "../../platform/folding.ts";
import { Id, Name, named, Text } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { invalidAt } from "../../platform/problem.ts";

const fields = {
  name: Type.Optional(Name("The customer's name.", 200)),
  email: Type.Optional(
    Type.String({
      description: "The customer's email address.",
      minLength: 3,
      maxLength: 254,
      pattern: "^\\s*[^\\s\\x00-\\x1F@]+@[^\\s\\x00-\\x1F@]+\\s*$",
      "x-text": "must be an email address",
    }),
  ),
  phone: Type.Optional(Name("The customer's telephone number.", 50)),
  address: Type.Optional(Text("Where the order goes.", 1, 500)),
  note: Type.Optional(Text("What else was agreed.", 1, 1_000)),
};

export const Contact = named("Contact", Type.Object(fields, { additionalProperties: false }));
export type Contact = Static<typeof Contact>;
/** The body of a write. It has its own schema because an optional field may be null in a body, but never in an answer. */
export const ContactInput = named("ContactInput", Type.Object(fields, { additionalProperties: false }));

export const ContactPath = Type.Object({ orderId: Id("The order's identifier.") });

export const contactFields = ["name", "email", "phone", "address", "note"] as const satisfies (keyof Contact)[];

/** @throws Problem `invalid_request` for a contact without any field */
export function requireSome(contact: Contact): void {
  if (contactFields.every((field) => contact[field] === undefined))
    throw invalidAt("body", "must have at least one of name, email, phone, address and note");
}

/** The person to find, by any of these. */
export type Person = { email?: string; phone?: string; name?: string };

/** The fewest digits of a telephone number to find. */
const digitsMin = 5;
/** The last digits of a telephone number are the same in its national and its international spelling. */
const digitsCompared = 8;

/**
 * Returns a function that says whether a contact is of this person, or mentions them: by the whole email, by the telephone number in any
 * spelling, or by all words of the name in one field.
 *
 * @throws Problem `invalid_request` for a telephone number with too few digits, and for a name without letters
 */
export function mentions({ email, phone, name }: Person): (contact: Contact) => boolean {
  const emailKey = email === undefined ? undefined : normalize(email.trim());
  const phoneKey = phone === undefined ? undefined : phoneKeyOf(phone);
  const words = name === undefined ? undefined : wordsOf(name);
  if (phoneKey === "") throw invalidAt("body.phone", `must have at least ${digitsMin} digits`);
  if (words?.length === 0) throw invalidAt("body.name", "must have a letter");
  return (contact) =>
    contactFields.some((field) => {
      if (contact[field] === undefined) return false;
      const text = normalize(contact[field]);
      if (emailKey !== undefined && text.split(betweenEmails).includes(emailKey)) return true;
      if (phoneKey !== undefined && hasNumber(text, phoneKey, field === "phone")) return true;
      if (words === undefined || field === "email" || field === "phone") return false;
      const known = new Set(wordsOf(text));
      return words.every((word) => known.has(word));
    });
}

const betweenEmails = /[\s,;:<>()"']|[.!?](?=[\s,;:<>()"']|$)/;
/** Digits with all that people write between those of one number. */
const phoneNumbers = /\d[\d\s\p{Dash}()./·•]*/gu;

/**
 * Whether a folded text has a telephone number with this key: anywhere between words, or as the whole text, whatever is between its digits. A long
 * number may stand beside others.
 */
function hasNumber(text: string, key: string, isNumber: boolean): boolean {
  return [...(isNumber ? [text] : []), ...(text.match(phoneNumbers) ?? [])].some((number) => {
    if (phoneKeyOf(number) === key) return true;
    let digits = "";
    return key.length === digitsCompared && (number.match(/\d+/g) ?? []).some((group) => (digits += group).endsWith(key));
  });
}

/** The keys that find the contacts of one person; null for a missing one. */
export type PersonKeys = { email: string | null; phone: string | null };

/** Returns the keys of a contact: those of one person are equal in any spelling. */
export function keysOf({ email, phone }: Contact): PersonKeys {
  return { email: email === undefined ? null : normalize(email.trim()), phone: (phone !== undefined && phoneKeyOf(phone)) || null };
}

/** Returns the digits by which telephone numbers are compared; empty if there are too few. */
function phoneKeyOf(phone: string): string {
  const digits = normalize(phone).replaceAll(/\D/g, "").replace(/^0+/, "");
  return digits.length < digitsMin ? "" : digits.slice(-digitsCompared);
}

function wordsOf(text: string): string[] {
  return normalize(text)
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "");
}
