/*
 * Converts between the API's dates (RFC 3339, UTC) and values of a datetime-local field (the reader's time zone, without seconds).
 */

/** The field's value for a date; empty for none. */
export function toField(shipDate: string | undefined): string {
  if (shipDate === undefined) return "";
  const moment = new Date(shipDate);
  const digits = (value: number, count = 2) => String(value).padStart(count, "0");
  const day = `${digits(moment.getFullYear(), 4)}-${digits(moment.getMonth() + 1)}-${digits(moment.getDate())}`;
  return `${day}T${digits(moment.getHours())}:${digits(moment.getMinutes())}`;
}

/** The API's date for a field's value; undefined for an empty field. */
export function fromField(text: string): string | undefined {
  if (text === "") return undefined;
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? text : moment.toISOString();
}

/** The reader's time zone, as in `Europe/Berlin`. */
export function timeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
