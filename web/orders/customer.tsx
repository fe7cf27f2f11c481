import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { ContactLink } from "../parts/contact-link.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { PetLink } from "../pets/pet-link.tsx";
import { WithThumb } from "../pets/thumb.tsx";
import { ordersTexts as words } from "../texts/en-orders.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { ContactDialog, DeleteContactDialog } from "./contact-dialogs.tsx";
import { PlacedCell, TotalCell } from "./details-cells.tsx";
import { contactFields, contactQuery, othersQuery, type Contact } from "./details.ts";
import styles from "./order-page.module.css";
import { StateBadge } from "./order-state.tsx";
import type { Order } from "./queries.ts";

/** Who placed an order, with a form to change it, and the other orders of the same customer. */
export function Customer({ orderId }: { orderId: number }): ReactNode {
  const { data: contact, error, isPending, refetch } = useQuery(contactQuery(orderId));
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const close = () => setDialog(undefined);
  return (
    <>
      <Section title={words.customer}>
        <ErrorPanel error={contact === undefined ? error : null} onRetry={() => void refetch()} />
        {isPending && <Waiting lines={2} />}
        {contact === null && <p className={styles.quiet}>{words.nobody}</p>}
        {contact && <ContactFacts contact={contact.value} />}
        {contact !== undefined && (
          <Group gap="xs" mb="xl">
            <Button variant="default" size="sm" onClick={() => setDialog("edit")}>
              {contact ? words.changeContact : words.addContact}
            </Button>
            {contact && (
              <Button variant="subtle" color="red" size="sm" onClick={() => setDialog("delete")}>
                {words.deleteContact}
              </Button>
            )}
          </Group>
        )}
      </Section>
      {contact && <Others orderId={orderId} />}
      {dialog === "edit" && contact !== undefined && <ContactDialog orderId={orderId} contact={contact} onClose={close} />}
      {dialog === "delete" && <DeleteContactDialog orderId={orderId} onClose={close} />}
    </>
  );
}

function ContactFacts({ contact }: { contact: Contact }): ReactNode {
  const shown = contactFields.filter((field) => contact[field] !== undefined);
  return (
    <dl className={styles.facts}>
      {shown.map((field) => (
        <div key={field} className={styles.fact}>
          <dt>{words[field]}</dt>
          <dd className={styles.lines}>
            <ContactLink field={field} text={contact[field] ?? ""} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Others({ orderId }: { orderId: number }): ReactNode {
  const { data } = useQuery(othersQuery(orderId));
  if (data === undefined || data.orders.length === 0) return null;
  return (
    <Section title={words.others} lead={words.othersLead}>
      <ul className={styles.others}>
        {data.orders.map((order) => (
          <li key={order.id}>
            <Other order={order} />
          </li>
        ))}
      </ul>
      {data.isMore && <p className={styles.quiet}>{words.moreOthers(formatNumber(data.orders.length))}</p>}
    </Section>
  );
}

function Other({ order: { id, petId, quantity, complete } }: { order: Order }): ReactNode {
  return (
    <>
      <Link to="/dashboard/orders/$orderId" params={{ orderId: String(id) }}>
        {texts.store.orders.editTitle(id)}
      </Link>
      <WithThumb petId={petId}>
        {formatNumber(quantity)} × {petId === undefined ? texts.store.orders.draft : <PetLink petId={petId} />}
      </WithThumb>
      <span>
        <PlacedCell orderId={id} />
      </span>
      <span>
        <TotalCell orderId={id} quantity={quantity} />
      </span>
      <StateBadge state={complete ? "complete" : "open"} />
    </>
  );
}
