import { Button, Drawer, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { stockQuery, type InventoryItem } from "../inventory/queries.ts";
import { StockPanel } from "../inventory/stock-panel.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { useGuard } from "../parts/unsaved.tsx";
import { useFocusReturn } from "../parts/use-focus-return.ts";
import { profileTexts } from "../texts/en-shop.ts";
import { texts } from "../texts/texts.ts";
import { EditPetForm } from "./pet-form.tsx";
import styles from "./pet-panel.module.css";
import { ProfilePart } from "./profile-part.tsx";
import { petQuery, type Pet } from "./queries.ts";

const words = texts.store.animals;

type Props = { petId: number; onDelete: (pet: Pet) => void; onClose: () => void };

/** The panel beside the list: one pet with its fields, its stock and its actions. */
export function PetPanel({ petId, onDelete, onClose }: Props): ReactNode {
  useFocusReturn();
  const { data, error, refetch } = useQuery(petQuery(petId));
  const { data: stock } = useQuery(stockQuery(petId));
  const [reloads, setReloads] = useState(0);
  const isTracked = stock !== null && stock !== undefined;

  const startAgain = (): void => setReloads((before) => before + 1);
  const reload = (): void => void refetch().then(({ isSuccess }) => isSuccess && startAgain());
  const { close, guard } = useGuard(onClose);
  return guard(
    <Drawer
      opened
      onClose={close}
      position="right"
      size={460}
      title={data?.value.name ?? words.animal(petId)}
      classNames={{ title: styles.title }}
      closeButtonProps={{ "aria-label": texts.dashboard.close }}
    >
      {data === undefined && !error && <Waiting lines={5} />}
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {data === null && <p>{texts.store.gone(words.animal(petId))}</p>}
      {data && (
        <>
          <Group gap="xs" mb="md">
            {canBeOrdered(data.value, stock) && (
              <Button variant="default" renderRoot={(props) => <Link to="/dashboard/orders" search={{ order: petId }} {...props} />}>
                {words.order}
              </Button>
            )}
            <Button variant="default" renderRoot={(props) => <Link to="/dashboard/orders" search={{ petId }} {...props} />}>
              {words.orders}
            </Button>
            <Button variant="subtle" className={styles.dangerous} onClick={() => onDelete(data.value)}>
              {words.delete}
            </Button>
          </Group>
          <Part title={words.details}>
            <EditPetForm
              key={`${reloads} ${editedOf(data.value)}`}
              pet={data}
              isTracked={isTracked}
              onSaved={startAgain}
              onReload={reload}
            />
          </Part>
          <Part title={profileTexts.title}>
            <ProfilePart petId={petId} />
          </Part>
          <Part title={words.stock}>
            <StockPanel petId={petId} name={data.value.name} />
          </Part>
        </>
      )}
    </Drawer>,
  );
}

/** A tracked pet can be ordered while units are free, an untracked pet unless it is sold. */
function canBeOrdered({ status }: Pet, stock: InventoryItem | null | undefined): boolean {
  return stock ? stock.quantity > 0 : status !== "sold";
}

/** The form's key: the values that it edits as text, so that typed text stays when the status, the stock or tracking changes. */
function editedOf({ name, categoryId }: Pet): string {
  return JSON.stringify([name, categoryId]);
}

function Part({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className={styles.part} aria-label={title}>
      <h3 className={styles.heading}>{title}</h3>
      {children}
    </section>
  );
}
