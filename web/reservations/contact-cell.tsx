import type { ReactNode } from "react";
import { ContactLink } from "../parts/contact-link.tsx";
import { useContact } from "./queries.ts";
import styles from "./reservations.module.css";

/** Who sent it, how to reach them, and what they wrote. */
export function ContactCell({ id }: { id: number }): ReactNode {
  const contact = useContact(id);
  if (!contact) return "–";
  const { name, email, phone, note } = contact;
  return (
    <span className={styles.contact}>
      {name !== undefined && <span>{name}</span>}
      {email !== undefined && <ContactLink field="email" text={email} />}
      {phone !== undefined && <ContactLink field="phone" text={phone} />}
      {note !== undefined && <span className={styles.note}>{note}</span>}
    </span>
  );
}
