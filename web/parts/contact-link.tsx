import type { ReactNode } from "react";

/** A value of a contact. An email address and a telephone number are links; the address is encoded, so that it adds no fields to the message. */
export function ContactLink({ field, text }: { field: string; text: string }): ReactNode {
  if (field === "email") return <a href={`mailto:${encodeURIComponent(text).replaceAll("%40", "@")}`}>{text}</a>;
  if (field === "phone") return <a href={`tel:${text.replaceAll(/[^\d+]/g, "")}`}>{text}</a>;
  return text;
}
