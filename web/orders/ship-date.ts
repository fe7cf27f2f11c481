/*
 * Dates of the API (RFC 3339, UTC) as a datetime-local field holds them: in the reader's time zone, without seconds.
 */

/** What the field shows; empty for no date. */
export function toField(shipDate: string | undefined): string {
  if (shipDate === undefined) return "";
  const moment = new Date(shipDate);
  const digits = (value: number, count = 2) => String(value).padStart(count, "0");
  const day = `${digits(moment.getFullYear(), 4)}-${digits(moment.getMonth() + 1)}-${digits(moment.getDate())}`;
  return `${day}T${digits(moment.getHours())}:${digits(moment.getMinutes())}`;
}

/** What is sent: undefined for an empty field. */
export function fromField(text: string): string | undefined {
  if (text === "") return undefined;
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? text : moment.toISOString();
}

/** The reader's time zone, as in `Europe/Berlin`. */
export function timeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
