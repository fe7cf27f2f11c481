import { andThen, type Awaitable, type Database, type Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireConditions } from "../../platform/http/conditions.ts";
import { type Answer, created, deleted, listed, mergePatch, operation, type Operation, resource } from "../../platform/http/operation.ts";
import { limitDefault, linkAfter, pageOf, type Position, positionOf } from "../../platform/http/paging.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { factOf } from "./facts.ts";
import { asksForOrigin, idsFromOrigin, listImportedPets, requireOriginQuery } from "./imported-pets.store.ts";
import { listPetsByFact, requireFactQuery } from "./pet-facts.store.ts";
import { asksForOne, findPets } from "./pet-ids.store.ts";
import { listPets, namePosition, showListedPets, sortOf } from "./pet-lists.store.ts";
import { type FoundPet, searchPets, searchPosition, searchPositionLengths } from "./pet-search.store.ts";
import { completeWords, ownWordsMs } from "./pet-words.store.ts";
import {
  deletePet,
  insertPet,
  insertPets,
  lockPet,
  lockPetWithEntry,
  showPet,
  updatePet,
  wholePets,
  type StoredPet,
} from "./pets.store.ts";
import {
  batchBytesMax,
  findsNothing,
  NewPet,
  NewPets,
  patchPet,
  Pet,
  PetPath,
  PetQuery,
  Pets,
  WrittenPet,
  WrittenPetPatch,
} from "./pets.ts";

const path = "/pets";
const onePath = "/pets/{petId}";
const tag = "Animals";
const rex: Pet = { id: 1, name: "Rex", categoryId: 1, status: "available" };
const rexParams = { petId: 1 };

export const petRoutes: Operation[] = [
  operation({
    operationId: "listPets",
    method: "GET",
    path,
    tag,
    summary: "List pets",
    description: "The pets that pass all given filters; with one `id`, that pet.",
    details: "`GET /pets?id=N` replaces `GET /pets/{petId}`: its answer has that pet's ETag and honours `If-None-Match`.",
    scope: "catalogue:read",
    query: PetQuery,
    example: { query: { status: ["available"], sort: "name", limit: 2 } },
    answers: {
      200: {
        ...listed("The pets.", Pets, [{ id: 2, name: "Luna", categoryId: 1, status: "available" }, rex]),
        headers: ["Link", "ETag"],
      },
    },
    read(db, { accountId, query }) {
      const { id, q } = query;
      const sortedQuery = { ...query, sort: sortOf(query) }; // A cursor stays valid whether or not the next request names the default `sort`.
      const lengths = q === undefined ? [isByName(sortedQuery) ? 2 : 1] : searchPositionLengths;
      const list: List = {
        db,
        accountId,
        query: sortedQuery,
        after: positionOf(sortedQuery, ...lengths),
        limit: (query.limit ?? limitDefault) + 1,
      };
      if (query.fact !== undefined) return readByFact(list, query.fact);
      if (findsNothing(q)) return { status: 200, body: [] };
      if (asksForOrigin(query)) return readImported(list);
      if (asksForOne(query) && !list.after) return readOne(list, query.id[0]);
      if (id) return readById(list, id);
      if (q !== undefined) return readFound(list, q);
      return isByName(sortedQuery) ? readByName(list) : readInOrder(list);
    },
  }),
  operation({
    operationId: "createPet",
    method: "POST",
    path,
    tag,
    summary: "Create a pet",
    description: "Adds a pet to a category. Its status is `available` unless another is given.",
    scope: "catalogue:write",
    dryRun: true,
    body: NewPet,
    example: { body: { name: "Bella", categoryId: 1, status: "available" } },
    answers: { 201: created("The pet as it was created.", Pet, { id: 4, name: "Bella", categoryId: 1, status: "available" }) },
    problems: ["unknown_reference", "storage_limit_reached"],
    write: async (tx, { accountId, body }) => {
      const { pet, version } = await insertPet(tx, accountId, body);
      return { status: 201, body: pet, version, headers: { location: addressOf(`${path}/${pet.id}`) } };
    },
  }),
  operation({
    operationId: "createPetsBatch",
    method: "POST",
    path: "/pets/batch",
    tag,
    summary: "Create many pets",
    description: "Adds up to 1,000 pets in one request, all or none; the answer has them in the order of the request.",
    scope: "catalogue:write",
    dryRun: true,
    stability: "beta",
    body: NewPets,
    bodyBytesMax: batchBytesMax,
    example: {
      body: [
        { name: "Bella", categoryId: 1 },
        { name: "Milo", categoryId: 2, status: "pending" },
      ],
    },
    answers: {
      201: {
        description: "The pets as they were created.",
        schema: Pets,
        example: [
          { id: 4, name: "Bella", categoryId: 1, status: "available" },
          { id: 5, name: "Milo", categoryId: 2, status: "pending" },
        ],
        headers: ["Location"],
      },
    },
    problems: ["unknown_reference", "storage_limit_reached"],
    steps: async ({ db, isDryRun, run, problemOf }, { accountId, body }) => {
      if (!isDryRun) await completeWords(db, accountId); // those of the batch before, so that few ever wait
      const answer = await run(0, async (tx) => {
        const pets = await insertPets(tx, accountId, body);
        return { status: 201, body: pets, headers: { location: addressOf(path) } };
      });
      if (!isDryRun) await completeWords(db, accountId, ownWordsMs).catch(problemOf); // the pets are there in any case
      return answer;
    },
  }),
  operation({
    operationId: "getPet",
    method: "GET",
    path: onePath,
    tag,
    summary: "Get a pet",
    description: "One pet by its identifier. Deprecated: use `GET /pets?id=N`. After the sunset date the answer is 410 `operation_sunset`.",
    scope: "catalogue:read",
    deprecated: { since: Date.UTC(2026, 0, 1), successor: "/pets?id={petId}" },
    params: PetPath,
    example: { params: rexParams },
    answers: { 200: resource("The pet.", Pet, rex) },
    problems: ["not_found", "operation_sunset"],
    read: (db, { accountId, params: { petId } }) =>
      andThen(showPet(db, accountId, petId), (found) => {
        const { json, version } = found ?? absent(petId);
        return { status: 200, text: wholePets(db, json), version };
      }),
  }),
  operation({
    operationId: "replacePet",
    method: "PUT",
    path: onePath,
    tag,
    summary: "Replace a pet",
    description:
      "Replaces name, category and status. A status that is left out becomes `available`. While stock is tracked the status follows the stock: leave it out or send the current one; any other is refused (`status_follows_stock`).",
    scope: "catalogue:write",
    dryRun: true,
    params: PetPath,
    body: WrittenPet,
    example: { params: rexParams, body: { name: "Rex the Brave", categoryId: 1, status: "available" } },
    answers: { 200: resource("The pet as it now stands.", Pet, { ...rex, name: "Rex the Brave" }) },
    problems: ["not_found", "precondition_failed", "unknown_reference", "status_follows_stock"],
    write: async (tx, { accountId, params, body, conditions }) => {
      const current = await requirePet(tx, accountId, params.petId);
      requireConditions(conditions, current.version);
      const { pet, version } = await updatePet(tx, accountId, current, { ...body, status: body.status ?? null });
      return { status: 200, body: pet, version };
    },
  }),
  operation({
    operationId: "updatePet",
    method: "PATCH",
    path: onePath,
    tag,
    summary: "Update a pet",
    description:
      "Changes the given fields of a pet. While stock is tracked the status follows the stock: any other status is refused (`status_follows_stock`).",
    scope: "catalogue:write",
    dryRun: true,
    params: PetPath,
    body: WrittenPetPatch,
    mediaTypes: mergePatch,
    example: { params: { petId: 2 }, body: { status: "pending" } },
    answers: { 200: resource("The pet as it now stands.", Pet, { id: 2, name: "Luna", categoryId: 1, status: "pending" }) },
    problems: ["not_found", "precondition_failed", "unknown_reference", "status_follows_stock"],
    write: async (tx, { accountId, params, body, conditions }) => {
      const current = await requirePet(tx, accountId, params.petId);
      requireConditions(conditions, current.version);
      const { pet, version } = await updatePet(tx, accountId, current, patchPet(current.pet, body));
      return { status: 200, body: pet, version };
    },
  }),
  operation({
    operationId: "deletePet",
    method: "DELETE",
    path: onePath,
    tag,
    summary: "Delete a pet",
    description: "Deletes a pet and its inventory entry. Refused while the pet has an open order.",
    details: "Complete orders keep the pet's identifier.",
    scope: "catalogue:write",
    dryRun: true,
    params: PetPath,
    example: { params: { petId: 3 } },
    answers: { 204: deleted("The pet is gone.") },
    problems: ["not_found", "precondition_failed", "pet_in_use"],
    write: async (tx, { accountId, params, conditions }) => {
      const current = (await lockPetWithEntry(tx, accountId, params.petId)) ?? absent(params.petId);
      requireConditions(conditions, current.version);
      await deletePet(tx, accountId, current);
      return { status: 204 };
    },
  }),
];

/** A list request: its query with the sort filled in, the position after which its page begins, and a limit of one row more than the page holds. */
type List = { db: Database; accountId: number; query: PetQuery; after: Position | undefined; limit: number };

const isByName = ({ sort }: PetQuery): boolean => sort === "name" || sort === "-name";

function readOne({ db, accountId }: List, id: number): Awaitable<Answer> {
  return andThen(showPet(db, accountId, id), (pet) => ({
    status: 200,
    text: `[${wholePets(db, pet?.json ?? "")}]`,
    ...(pet && { version: pet.version }),
  }));
}

function readImported(list: List): Awaitable<Answer> {
  const { db, accountId, query, after, limit } = list;
  requireOriginQuery(query);
  if (query.id ?? query.sourceId) return andThen(idsFromOrigin(db, accountId, query), (ids) => readById(list, ids));
  return andThen(listImportedPets(db, accountId, query, after, limit), (found) => {
    const { rows: body, headers } = pageOf(path, query, found, ({ id }) => [id]);
    return { status: 200, body, headers };
  });
}

function readByFact({ db, accountId, query, after, limit }: List, fact: string): Awaitable<Answer> {
  requireFactQuery(query);
  return andThen(listPetsByFact(db, accountId, query, factOf(fact), after, limit), (found) => {
    const { rows: body, headers } = pageOf(path, query, found, ({ id }) => [id]);
    return { status: 200, body, headers };
  });
}

function readById({ db, accountId, query, after, limit }: List, id: number[]): Awaitable<Answer> {
  const position = (found: FoundPet) => (isByName(query) ? searchPosition(found) : [found.pet.id]);
  return andThen(findPets(db, accountId, { ...query, id }, after, limit), (found) => {
    const { rows: body, headers } = pageOf(path, query, found, position);
    const [first] = body;
    return { ...page(body, headers), ...(id.length === 1 && first && { version: first.version }) };
  });
}

function readFound({ db, accountId, query, after, limit }: List, q: string): Awaitable<Answer> {
  return andThen(searchPets(db, accountId, { ...query, q }, after, limit), (found) => {
    const { rows: body, headers } = pageOf(path, query, found, searchPosition);
    return page(body, headers);
  });
}

function readByName({ db, accountId, query, after, limit }: List): Awaitable<Answer> {
  return andThen(listPets(db, accountId, query, after, limit), (found) => {
    const { rows: body, headers } = pageOf(path, query, found, namePosition);
    return { status: 200, body, headers };
  });
}

/** Where each pet begins in a list's text. In a name the quotes are escaped. */
const beginning = '{"id":';

function readInOrder({ db, accountId, query, after, limit }: List): Awaitable<Answer> {
  return andThen(showListedPets(db, accountId, query, after, limit), ([texts, count]) => {
    wholePets(db, texts ?? "");
    if (texts === null || count < limit) return { status: 200, text: `[${texts ?? ""}]` };
    const text = texts.slice(0, texts.lastIndexOf(`,${beginning}`));
    const lastId = Number.parseInt(text.slice(text.lastIndexOf(beginning) + beginning.length), 10);
    return { status: 200, text: `[${text}]`, headers: linkAfter(path, query, [lastId]) };
  });
}

const page = (found: FoundPet[], headers: Record<string, string>): Answer => ({ status: 200, body: found.map(({ pet }) => pet), headers });

async function requirePet(tx: Transaction, accountId: number, id: number): Promise<StoredPet> {
  return (await lockPet(tx, accountId, id)) ?? absent(id);
}

function absent(id: number): never {
  throw new Problem("not_found", `There is no ${byId("pet", id)}.`);
}
