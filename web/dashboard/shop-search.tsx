import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { Refusal } from "../calls/refusal.ts";
import { answerOf, readPage, store } from "../calls/store.ts";
import type { Command } from "../frame/palette.tsx";
import { soughtNumber } from "../parts/search-values.ts";
import type { Pet } from "../pets/queries.ts";
import { Thumb } from "../pets/thumb.tsx";
import { insideNamesTexts as inside } from "../texts/en-inside-names.ts";
import { texts } from "../texts/texts.ts";
import { sessionQuery } from "./session.ts";

const typingMs = 200;
const shownMax = 5;
const queryMin = 2;

type Search = { found: Command[]; further: Command | undefined; isSearching: boolean };

/** Searches the shop's pets and orders for the palette's query, and offers to search inside words. Finds nothing without a session. */
export function useShopSearch(query: string): Search {
  const { data: session } = useQuery({ ...sessionQuery, enabled: false });
  const navigate = useNavigate();
  const [q] = useDebouncedValue(query.trim(), typingMs);
  const isWanted = Boolean(session) && (q.length >= queryMin || soughtNumber(q, "animal") !== undefined);
  const { data: animals, isFetching: readsAnimals } = useQuery({
    queryKey: [dashboardKey, "/pets", "palette", q],
    enabled: isWanted,
    staleTime: typingMs,
    retry: false,
    queryFn: ({ signal }) => findPets(q, signal),
  });
  const orderId = soughtNumber(q, "order");
  const { data: order, isFetching: readsOrder } = useQuery({
    queryKey: [dashboardKey, "/store/orders", "palette", orderId],
    enabled: Boolean(session) && orderId !== undefined,
    staleTime: typingMs,
    retry: false,
    queryFn: ({ signal }) => readOrder(orderId ?? 0, signal),
  });
  const isTyping = query.trim() !== q;
  const found = useMemo(() => {
    if (isTyping) return [];
    const foundAnimals = (animals ?? []).map(({ id, name }) => {
      const run = () => void navigate({ to: "/dashboard/animals/$animalId", params: { animalId: String(id) } });
      return { id: `animal ${id}`, group: texts.store.animals.page, label: name, hint: id, picture: <Thumb petId={id} />, texts: [], run };
    });
    if (!order) return foundAnimals;
    const run = () => void navigate({ to: "/dashboard/orders/$orderId", params: { orderId: String(order.id) } });
    const { page, editTitle, states } = texts.store.orders;
    const hint = order.complete ? states.complete : states.open;
    return [{ id: `order ${order.id}`, group: page, label: editTitle(order.id), hint, texts: [], run }, ...foundAnimals];
  }, [animals, order, isTyping, navigate]);
  const isSearching = Boolean(session) && (isTyping || readsAnimals || readsOrder);
  const further = useMemo(() => {
    if (!session || isSearching || q.length < queryMin) return undefined;
    const run = () => void navigate({ to: "/dashboard/animals", search: { q, inside: true } });
    return { id: "inside names", group: inside.group, label: inside.search(q), hint: null, texts: [], run };
  }, [session, isSearching, q, navigate]);
  return { found, further, isSearching };
}

/** The pet with the typed number, then those whose names match. */
async function findPets(q: string, signal: AbortSignal): Promise<Pet[]> {
  const petId = soughtNumber(q, "animal");
  const [numbered, named] = await Promise.all([
    petId === undefined ? [] : readPage("/pets", { id: [petId], limit: 1 }, { signal }).then(({ rows }) => rows),
    q.length < queryMin ? [] : readPage("/pets", { q, limit: shownMax }, { signal }).then(({ rows }) => rows),
  ]);
  return [...numbered, ...named.filter(({ id }) => id !== petId)].slice(0, shownMax);
}

/** Reads an order for the palette; null if there is none. */
async function readOrder(orderId: number, signal: AbortSignal): Promise<{ id: number; complete: boolean } | null> {
  try {
    const { complete } = await answerOf<{ complete?: boolean }>(
      store.GET("/store/orders/{orderId}", { params: { path: { orderId } }, signal }),
    );
    return { id: orderId, complete: complete === true };
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_found") return null;
    throw error;
  }
}
