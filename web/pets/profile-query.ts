import { queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { Refusal } from "../calls/refusal.ts";
import { store, taggedAnswerOf, type Schemas, type Tagged } from "../calls/store.ts";

type Profile = Schemas["Profile"];

/** A pet's profile with its version; null if none has been saved. */
export function profileQuery(petId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/pets", "profile", petId],
    staleTime: 0,
    queryFn: async ({ signal }): Promise<Tagged<Profile> | null> => {
      try {
        return await taggedAnswerOf<Profile>(store.GET("/pets/{petId}/profile", { params: { path: { petId } }, signal }));
      } catch (error) {
        if (error instanceof Refusal && error.status === 404) return null;
        throw error;
      }
    },
  });
}
