import { Button, Group } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { reread, showAnswer } from "../calls/rows.ts";
import { useIdle } from "../frame/use-idle.ts";
import { Waiting } from "../frame/waiting.tsx";
import { stockQuery, type InventoryItem } from "../inventory/queries.ts";
import { StockPanel } from "../inventory/stock-panel.tsx";
import { isUnsavedForm, useCallForm } from "../parts/call-form.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { PageGuard } from "../parts/page-guard.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { ReloadIfChanged, isChangedElsewhere } from "../parts/reload-if-changed.tsx";
import { SaveBar } from "../parts/save-bar.tsx";
import { animalTexts } from "../texts/en-animal.ts";
import { profileTexts } from "../texts/en-profile.ts";
import { texts } from "../texts/texts.ts";
import { AnimalFields, formId, StatusField } from "./animal-form.tsx";
import styles from "./animal-page.module.css";
import { saveAnimal, type Part, type StoredAnimal } from "./animal-saving.ts";
import { isSameForBuyers, valuesOf, type AnimalValues } from "./animal-values.ts";
import { cachePet } from "./cache.ts";
import { DeletePetDialog } from "./delete-pet-dialog.tsx";
import { PhotoEditor } from "./photo-editor.tsx";
import { profileQuery } from "./profile-query.ts";
import { petQuery, type Pet } from "./queries.ts";
import { useShopCurrency } from "./shop-currency.ts";
import { rereadSummary } from "./summaries.ts";

const route = getRouteApi("/dashboard/animals/$animalId");
const words = texts.store.animals;
const AnimalHistory = lazy(() => import("./animal-history.tsx"));

/** `/dashboard/animals/{animalId}`: all of one animal, saved by one bar. */
export function AnimalPage(): ReactNode {
  const petId = Number(route.useParams().animalId);
  const pet = useQuery(petQuery(petId));
  const profile = useQuery(profileQuery(petId));
  const [reloads, setReloads] = useState(0);
  const [isSaved, setSaved] = useState(false);
  const error = pet.error ?? profile.error;
  const startAgain = (afterSave: boolean): void => {
    setSaved(afterSave);
    setReloads((before) => before + 1);
  };
  const refetch = async (): Promise<void> => {
    await Promise.all([pet.refetch(), profile.refetch()]);
    startAgain(false);
  };
  const isRead = pet.data !== undefined && profile.data !== undefined;
  return (
    <PageGuard question={animalTexts.leave}>
      <PageHeader title={pet.data?.value.name ?? words.animal(petId)} lead={<AllAnimals />} />
      {!isRead && !error && <Waiting lines={6} />}
      {!isRead && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {pet.data === null && (
        <>
          <p>{texts.store.gone(words.animal(petId))}</p>
          <LateHistory petId={petId} />
        </>
      )}
      {pet.data && profile.data !== undefined && (
        <Animal
          key={reloads}
          stored={{ pet: pet.data, profile: profile.data }}
          isSaved={isSaved}
          onSaved={() => startAgain(true)}
          onReload={() => void refetch()}
        />
      )}
    </PageGuard>
  );
}

export function AllAnimals(): ReactNode {
  return (
    <Link to="/dashboard/animals" className={styles.all}>
      {animalTexts.all}
    </Link>
  );
}

type Props = { stored: StoredAnimal; isSaved: boolean; onSaved: () => void; onReload: () => void };

function Animal({ stored, isSaved, onSaved, onReload }: Props): ReactNode {
  const petId = stored.pet.value.id;
  const { data: stock } = useQuery(stockQuery(petId));
  const isTracked = stock !== null && stock !== undefined;
  const { form, part, isUnsaved } = useAnimalForm(stored, isTracked, onSaved);
  return (
    <>
      <div className={styles.page}>
        <div>
          <Section title={profileTexts.photos}>
            <PhotoEditor petId={petId} photos={stored.profile?.value.photos ?? []} />
          </Section>
          <AnimalFields form={form} />
        </div>
        <aside className={styles.side}>
          <Section title={animalTexts.stock}>
            <StockPanel petId={petId} name={stored.pet.value.name} />
          </Section>
          <div className={styles.part}>
            <StatusField form={form} status={stored.pet.value.status} isTracked={isTracked} />
          </div>
          <Actions pet={stored.pet.value} stock={stock} />
        </aside>
      </div>
      <LateHistory petId={petId} />
      <SaveBar
        of={formId}
        form={form}
        label={animalTexts.save}
        said={isUnsaved ? animalTexts.unsaved : animalTexts.saved}
        takesFocus={isSaved}
      >
        {isChangedElsewhere(form.error) && <p className={styles.error}>{animalTexts.changed[part]}</p>}
        <ReloadIfChanged error={form.error} onReload={onReload} />
      </SaveBar>
    </>
  );
}

/** The history is below all else, so it is loaded and read after it. */
function LateHistory({ petId }: { petId: number }): ReactNode {
  const isIdle = useIdle();
  return (
    isIdle && (
      <Suspense>
        <AnimalHistory petId={petId} />
      </Suspense>
    )
  );
}

/** The form of an animal that is stored. The service refuses what somebody else has changed since the page was read. */
function useAnimalForm(stored: StoredAnimal, isTracked: boolean, onSaved: () => void) {
  const client = useQueryClient();
  const petId = stored.pet.value.id;
  const [base, setBase] = useState(stored);
  const [part, setPart] = useState<Part>("details");
  const shopCurrency = useShopCurrency();
  const [currency] = useState(shopCurrency); // an open form keeps that with which it began
  const initial = valuesOf(base.pet.value, base.profile?.value, { currency });
  const form = useCallForm<AnimalValues, Pet>({
    initial,
    send: async (values) => {
      const wanted = isTracked ? { ...values, status: null } : values;
      const onDetails = (pet: StoredAnimal["pet"]): void => {
        setBase((before) => ({ ...before, pet }));
        showAnswer(client, petQuery(petId).queryKey, pet);
      };
      const saved = await saveAnimal(currentOf(base, stored), wanted, { begin: setPart, onDetails });
      for (const { queryKey } of [petQuery(petId), profileQuery(petId)]) await reread(client, { queryKey });
      rereadSummary(client, petId);
      return saved;
    },
    onDone: (saved) => {
      notify(words.saved(saved.name));
      cachePet(client, saved);
    },
    afterwards: onSaved,
  });
  return { form, part, isUnsaved: isUnsavedForm(form.values, initial) };
}

/** The parts as they are now, if the form still shows their values: stock changes the status, photos the profile's version. */
function currentOf(base: StoredAnimal, now: StoredAnimal): StoredAnimal {
  const [a, b] = [base.pet.value, now.pet.value];
  return {
    pet: a.name === b.name && a.categoryId === b.categoryId ? now.pet : base.pet,
    profile: isSameForBuyers(base.profile?.value, now.profile?.value) ? now.profile : base.profile,
  };
}

function Actions({ pet, stock }: { pet: Pet; stock: InventoryItem | null | undefined }): ReactNode {
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const canBeOrdered = stock ? stock.quantity > 0 : pet.status !== "sold";
  return (
    <Section title={animalTexts.actions}>
      <Group gap="xs">
        {canBeOrdered && (
          <Button variant="default" renderRoot={(props) => <Link to="/dashboard/orders" search={{ order: pet.id }} {...props} />}>
            {words.order}
          </Button>
        )}
        <Button variant="default" renderRoot={(props) => <Link to="/dashboard/orders" search={{ petId: pet.id }} {...props} />}>
          {words.orders}
        </Button>
        <Button variant="subtle" className={styles.dangerous} onClick={() => setDeleting(true)}>
          {words.delete}
        </Button>
      </Group>
      {isDeleting && (
        <DeletePetDialog
          pet={pet}
          onDeleted={() => void navigate({ to: "/dashboard/animals", ignoreBlocker: true })}
          onClose={() => setDeleting(false)}
        />
      )}
    </Section>
  );
}

export function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className={styles.part} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
