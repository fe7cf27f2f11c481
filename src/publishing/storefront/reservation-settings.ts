/** Whether visitors may reserve animals or ask about them, for how long a unit is held, and the shop's words above the form (specification 2.10). */
export type ReservationSettings = { enabled: boolean; holdHours: number; text: string | undefined };

const holdHoursDefault = 48;
export const holdHoursMax = 720;
export const reservationTextMax = 1_000;

const where = "`storefront.reservations`";

/** Parses the settings; undefined without any. `refuse` throws. */
export function asReservations(value: unknown, refuse: (why: string) => never): ReservationSettings | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) return refuse(`${where} must be an object in braces.`);
  const { enabled = true, holdHours, text, ...others } = value as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) refuse(`${where} has an unknown field "${unknown.slice(0, 50)}"; known are enabled, holdHours, text.`);
  if (typeof enabled !== "boolean") return refuse("`storefront.reservations.enabled` must be true or false.");
  const hours = holdHours ?? holdHoursDefault;
  if (!Number.isInteger(hours) || Number(hours) < 1 || Number(hours) > holdHoursMax)
    refuse(`\`storefront.reservations.holdHours\` must be a whole number from 1 to ${holdHoursMax}.`);
  const words = text ?? "";
  if (typeof words !== "string" || words.length > reservationTextMax || /[\0\ud800-\udfff]/u.test(words))
    return refuse(`\`storefront.reservations.text\` must be a text of at most ${reservationTextMax} characters.`);
  return { enabled, holdHours: Number(hours), text: words.trim() || undefined };
}
