import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { hourMs } from "../../platform/clock.ts";

/*
 * The form of a reservation (specification 2.10). Each form has a token: its time and a random number, signed for one shop and one animal. The
 * secret of the visitor's link follows from the number by a key that only the service has, so a form that is sent twice leads to one reservation.
 */

/** The pages of reservations: the form of an animal, and the page of a link. */
export const pagePath = /^(?:animals\/([1-9]\d{0,14})\/reserve|reservations\/([\w-]{43}))$/;
/** Whether a path is one of the pages of reservations. */
export const isReservationPath = (path: string): boolean => pagePath.test(path);

/** What the visitor wrote. */
export type FormValues = { name: string; email: string; phone: string; note: string };
export type FormErrors = Partial<Record<keyof FormValues, string>>;
/**
 * A form as it was sent. `holds`: whether the page offered to hold a unit and the visitor pressed *Reserve*. `isTrapped`: the field that people do not see
 * has a value.
 */
export type SentForm = { values: FormValues; errors: FormErrors; token: string; holds: boolean; isTrapped: boolean };

export const emptyValues: FormValues = { name: "", email: "", phone: "", note: "" };
export const lengths = { name: 200, email: 254, phone: 50, note: 1_000 } as const;
/** The name of the field that people do not see. */
export const trapName = "website";

/** No person fills in the form faster (ms). */
const formMsMin = 3_000;
const formMsMax = 12 * hourMs;

type Subject = { accountId: number; petId: number };

/** Makes the token of a form for one animal of a shop. */
export function newToken(key: Uint8Array, subject: Subject, now: number): string {
  const signed = `${now.toString(36)}.${randomBytes(16).toString("base64url")}`;
  return `${signed}.${macOf(key, "form", subject, signed)}`;
}

/**
 * Checks the token of a sent form. Returns the secret of its link, or why the token is refused: it is not of this form, it is too old, or it
 * came back sooner than a person could have filled in the form, also by the clock of a node that is behind.
 */
export function linkOf(key: Uint8Array, subject: Subject, token: string, now: number): { secret: string } | "false" | "late" | "early" {
  const [, time = "", number = "", mac = ""] = /^([0-9a-z]{1,10})\.([\w-]{22})\.([\w-]{43})$/.exec(token) ?? [];
  const expected = Buffer.from(macOf(key, "form", subject, `${time}.${number}`));
  const given = Buffer.from(mac);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return "false";
  const age = now - Number.parseInt(time, 36);
  if (age > formMsMax) return "late";
  return age < formMsMin ? "early" : { secret: macOf(key, "link", subject, number) };
}

/** The hash by which the database knows a link. */
export function linkHashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** The name under which the database counts what an address holds at a shop. */
export function visitorOf(key: Uint8Array, accountId: number, address: string): string {
  return macOf(key, "visitor", { accountId, petId: 0 }, address);
}

function macOf(key: Uint8Array, use: string, { accountId, petId }: Subject, text: string): string {
  return createHmac("sha256", key).update(`reservation ${use}\n${accountId}\n${petId}\n${text}`).digest("base64url");
}

/** Reads a sent form (application/x-www-form-urlencoded), and checks what the visitor wrote. */
export function readForm(body: string): SentForm {
  const sent = new URLSearchParams(body);
  const line = (name: string): string =>
    textOf(sent.get(name))
      .replaceAll(/\p{Cc}+/gu, " ")
      .trim();
  const note = textOf(sent.get("note")).replaceAll(/\r\n?/g, "\n").trim();
  const values = { name: line("name"), email: line("email"), phone: line("phone"), note };
  return {
    values,
    errors: errorsOf(values),
    token: sent.get("token") ?? "",
    holds: sent.get("holds") === "yes" && sent.get("ask") !== "yes",
    isTrapped: textOf(sent.get(trapName)) !== "",
  };
}

const textOf = (value: string | null): string => (value ?? "").replaceAll("\0", "").toWellFormed();

function errorsOf(values: FormValues): FormErrors {
  const errors: FormErrors = {};
  for (const field of Object.keys(lengths) as (keyof FormValues)[])
    if (values[field].length > lengths[field]) errors[field] = `Please use at most ${lengths[field]} characters.`;
  if (!/[\p{L}\p{N}]/u.test(values.name)) errors.name = "Please enter your name.";
  if (values.email === "" && values.phone === "") errors.email = "Please enter an email address or a telephone number.";
  else if (values.email !== "" && !/^[^\s@]+@[^\s@]+$/.test(values.email))
    errors.email ??= "Please enter a whole email address, as in ann@example.com.";
  if (values.phone !== "" && !/\d{3}/.test(values.phone.replaceAll(/\D/g, ""))) errors.phone ??= "Please enter a telephone number.";
  return errors;
}
