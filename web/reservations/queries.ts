import { useQuery, type QueryClient } from "@tanstack/react-query";
import { batched } from "../calls/batched.ts";
import { dashboardKey } from "../calls/lists.ts";
import { changeRows, rereadBeside, rereadList } from "../calls/rows.ts";
import { readCall } from "../calls/send.ts";
import { answerOf, store, type Schemas } from "../calls/store.ts";
import { invalidateStock } from "../inventory/queries.ts";
import { invalidatePets } from "../pets/cache.ts";

export type Reservation = Schemas["Reservation"];
type Contact = Schemas["Contact"];

const readContact = batched(
  (ids) =>
    readCall<{ id: number; contact: Contact }[]>(`/reservations/contacts?${new URLSearchParams(ids.map((id) => ["id", String(id)]))}`),
  ({ id }) => id,
);

/** Who sent a reservation; undefined while it is being read, and null if the contact was deleted. */
export function useContact(reservationId: number): Contact | null | undefined {
  const { data } = useQuery({
    queryKey: [dashboardKey, "/reservations", "contact", reservationId],
    staleTime: 60_000,
    queryFn: ({ signal }) => readContact(reservationId, signal),
  });
  return data === undefined ? undefined : (data?.contact ?? null);
}

/** Accepts or refuses a reservation, sets when it runs out, or deletes the contact of an enquiry. */
export function changeReservation(
  id: number,
  body: { state?: "accepted" | "refused"; lapsesAt?: string; contact?: null },
): Promise<Reservation> {
  return answerOf<Reservation>(store.PATCH("/reservations/{reservationId}", { params: { path: { reservationId: id } }, body }));
}

/** Shows a changed reservation in its row, and rereads what the change may affect: its contact, its order and the stock. */
export function showReservation(client: QueryClient, changed: Reservation): void {
  changeRows(client, "/reservations", (row) => (row.id === changed.id ? changed : row));
  void rereadBeside(client, "/reservations");
  void rereadList(client, "/store/orders");
  invalidateStock(client);
  invalidatePets(client);
}
