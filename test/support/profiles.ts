import type { Failure } from "./models.ts";
import type { Reply, TestService } from "./service.ts";

type Source = { url: string; type: string; width: number; height: number };
export type Photo = {
  id: number;
  alt: string;
  focus?: { x: number; y: number };
  width: number;
  height: number;
  url: string;
  sources: Source[];
};
export type Profile = {
  petId: number;
  description?: string;
  price?: { amount: number; currency: string };
  facts?: object;
  photos: Photo[];
};

export const pathOf = (petId: number): string => `/pets/${petId}/profile`;

/** Adds a photo to a pet, and gives the answer whatever it is. */
export function upload(
  service: TestService,
  petId: number,
  body: Uint8Array,
  headers: Record<string, string> = {},
  key = service.key,
  query = "",
): Promise<Reply<Photo & Failure>> {
  return service.ask("POST", `${pathOf(petId)}/photos${query}`, { body, headers: { "content-type": "image/jpeg", ...headers }, key });
}
