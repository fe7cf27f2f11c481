import { newestEvents, newestOf } from "../events/log/events.store.ts";
import type { Awaitable, Database } from "../platform/db/database.ts";
import type { EventType } from "../platform/event-types.ts";
import { openSharedRuns } from "../platform/jobs/runs.ts";
import type { openPhotoUploads } from "../publishing/photos/photo-uploads.ts";
import type { Content } from "../publishing/projects/shared-content.ts";
import type { StorefrontServices } from "../publishing/projects/storefront.routes.ts";
import type { AnimalsRequest, Catalogue, ShownAnimal } from "../publishing/storefront/storefront.ts";
import { listCategories } from "../store/categories/categories.store.ts";
import { listPetsByFact, valuesOfFact } from "../store/pets/pet-facts.store.ts";
import { categoriesWithPets, listPets, namePosition, newestPetIds } from "../store/pets/pet-lists.store.ts";
import { findPet } from "../store/pets/pets.store.ts";
import { nameKeyOf, type Pet } from "../store/pets/pets.ts";
import { findProfile, findProfiles } from "../store/profiles/profiles.store.ts";
import type { StoredProfile } from "../store/profiles/profiles.ts";

const categoriesMax = 1_000;
/** How many of the newest animals may be shown as new. */
const arrivalsMax = 24;
/** Identifiers in one step of a long read. */
const idsAtOnce = 500;
/** The events of what a storefront shows. A change of an animal's status by orders or stock is a `pet.updated`. */
const visible: EventType[] = [
  "pet.created",
  "pet.updated",
  "pet.deleted",
  "pet.profile_updated",
  "category.created",
  "category.updated",
  "category.deleted",
];
const unsold: Pet["status"][] = ["available", "pending"];

/** Reads the catalogue of an account for its storefronts. */
export function openCatalogue(db: Database): Catalogue {
  /** The reads of versions that have not been answered: a server answers many visitors of an account with one. */
  const reading = openSharedRuns<number, string>();
  const readVersion = async (accountId: number): Promise<string> => `${await newestOf(db.as({ caller: accountId }), accountId, visible)}`;
  return {
    version: (accountId) => reading.run(accountId, () => readVersion(accountId)),
    async categories(accountId) {
      const own = db.as({ caller: accountId });
      const all = await listCategories(own, accountId, {}, 0, categoriesMax);
      const filled = new Set(await categoriesWithPets(own, accountId, unsold));
      return all.map(({ id, name }) => ({ id, name, isEmpty: !filled.has(id) })).toSorted((a, b) => a.name.localeCompare(b.name, "en"));
    },
    async animals(accountId, wanted, limit) {
      const own = db.as({ caller: accountId });
      const pets = await petsOf(own, accountId, wanted, limit);
      const profiles = await findProfiles(
        own,
        accountId,
        pets.map(({ id }) => id),
      );
      return pets.map((pet) => shown(pet, profiles.get(pet.id)));
    },
    async animal(accountId, id) {
      const own = db.as({ caller: accountId });
      const found = await findPet(own, accountId, id);
      return found && shown(found.pet, await findProfile(own, accountId, id));
    },
    valuesOf: (accountId, wanted, most) => valuesOfFact(db.as({ caller: accountId }), accountId, wanted, most),
    async newest(accountId, limit) {
      const own = db.as({ caller: accountId });
      const ids: number[] = [];
      for (let isMore = true; isMore;) {
        const wanted = Math.min(idsAtOnce, limit - ids.length);
        const page = await own.scan(() => newestPetIds(own, accountId, unsold, ids.at(-1), wanted));
        ids.push(...page);
        isMore = page.length === wanted && ids.length < limit;
      }
      return ids;
    },
    async arrivals(accountId) {
      const events = await newestEvents(db.as({ caller: accountId }), accountId, "pet.created", arrivalsMax);
      return events.map(({ resource, at }) => ({ id: Number(resource.slice("pet/".length)), at }));
    },
  };
}

function petsOf(db: Database, accountId: number, { categoryId, status, ...order }: AnimalsRequest, limit: number): Awaitable<Pet[]> {
  const filters = { status: status === undefined ? unsold : [status], ...(categoryId !== undefined && { categoryId }) };
  if (order.sort === "name") {
    const { q, after } = order;
    const isWithin = q === undefined || nameKeyOf(after?.name ?? "").startsWith(nameKeyOf(q));
    const position = after !== undefined && isWithin ? namePosition(after) : undefined; // an address may name any animal
    return listPets(db, accountId, { ...filters, sort: "name", ...(q !== undefined && { q }) }, position, limit);
  }
  const newestFirst = { ...filters, sort: "-id" } as const;
  const after = order.before === undefined ? undefined : [order.before];
  return order.fact === undefined
    ? listPets(db, accountId, newestFirst, after, limit)
    : listPetsByFact(db, accountId, newestFirst, order.fact, after, limit);
}

function shown({ id, name, categoryId, status }: Pet, profile: StoredProfile | undefined): ShownAnimal {
  const { description = null, price = null, facts = null, photos = [] } = profile ?? {};
  return { id, name, categoryId, status, description, price, facts: facts ?? {}, photos: photos.filter(({ forms }) => forms.length > 0) };
}

/** Receives and reads the logo of the storefront's form: it is encoded like a photo, and stored in the published content. */
export function logosOf(photos: ReturnType<typeof openPhotoUploads>, open: Content["open"]): StorefrontServices["logos"] {
  return {
    receive: (uploader, body) => photos.receive(uploader, body, "logo"),
    requireStored: photos.requireStored,
    finish: photos.finish,
    async read(hash, size) {
      const file = await open(hash, undefined, size);
      try {
        return await file.readFile();
      } finally {
        await file.close();
      }
    },
  };
}
