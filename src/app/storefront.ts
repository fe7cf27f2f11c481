import type { Database } from "../platform/db/database.ts";
import { newestEvent } from "../events/log/events.store.ts";
import type { Catalogue, ShownAnimal } from "../publishing/storefront/catalogue.ts";
import { listCategories } from "../store/categories/categories.store.ts";
import { listPets } from "../store/pets/pet-lists.store.ts";
import type { Pet } from "../store/pets/pets.ts";
import { findPet } from "../store/pets/pets.store.ts";
import { findProfile, findProfiles, type StoredProfile } from "../store/profiles/profiles.store.ts";

const categoriesMax = 1_000;
const unsold: Pet["status"][] = ["available", "pending"];

/** Reads the catalogue of an account for its storefronts. */
export function openCatalogue(db: Database): Catalogue {
  return {
    version: async (accountId) => `${(await newestEvent(db, accountId)).position}`,
    async categories(accountId) {
      const all = await listCategories(db.forAccount(accountId), accountId, {}, 0, categoriesMax);
      return all.map(({ id, name }) => ({ id, name })).toSorted((a, b) => a.name.localeCompare(b.name, "en"));
    },
    async animals(accountId, { categoryId, q, before }, limit) {
      const own = db.forAccount(accountId);
      const filters = { status: unsold, ...(categoryId !== undefined && { categoryId }) };
      const query = q === undefined ? ({ ...filters, sort: "-id" } as const) : { ...filters, q };
      const pets = await listPets(own, accountId, query, before === undefined ? undefined : [before], limit);
      const profiles = await findProfiles(
        own,
        accountId,
        pets.map(({ id }) => id),
      );
      return pets.map((pet) => shown(pet, profiles.get(pet.id)));
    },
    async animal(accountId, id) {
      const own = db.forAccount(accountId);
      const found = await findPet(own, accountId, id);
      return found && shown(found.pet, await findProfile(own, accountId, id));
    },
    async newest(accountId, limit) {
      const pets = await listPets(db.forAccount(accountId), accountId, { status: unsold, sort: "-id" }, undefined, limit);
      return pets.map(({ id }) => id);
    },
  };
}

function shown({ id, name, categoryId, status }: Pet, profile: StoredProfile | undefined): ShownAnimal {
  const { description = null, price = null, photos = [] } = profile ?? {};
  return { id, name, categoryId, status, description, price, photos: photos.filter(({ forms }) => forms.length > 0) };
}
