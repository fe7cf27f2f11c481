import { normalize } from "../../platform/folding.ts";
import { Name, named, Nullable } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { invalidAt } from "../../platform/problem.ts";
import { factCharactersMax, factNames } from "../pets/facts.ts";
import type { FactRow } from "../pets/pet-facts.store.ts";

/** The most facts that a shop names itself. */
const ownFactsMax = 10;

const fact = (description: string) => Name(description, factCharactersMax);
const born = Type.String({
  pattern: "^(1[89]|20)[0-9][0-9](-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]))?$",
  description: "The date or the year of birth, such as `2024-05-17` or `2024`.",
  "x-text": "must be a date or a year, such as 2024-05-17 or 2024",
});
const OwnFact = named(
  "OwnFact",
  Type.Object({ name: Name("Such as `House-trained`.", 50), value: Name("Such as `Yes`.", 200) }, { additionalProperties: false }),
);
const own = Type.Array(OwnFact, { maxItems: ownFactsMax, description: "Further facts, which are shown and not searched." });
const texts = {
  species: fact("Such as `Dog`."),
  breed: fact("Such as `Beagle`."),
  sex: fact("Such as `Female`."),
  born,
  colour: fact("Such as `Black and white`."),
  size: fact("Such as `Small`."),
};
const optional = {
  species: Type.Optional(texts.species),
  breed: Type.Optional(texts.breed),
  sex: Type.Optional(texts.sex),
  born: Type.Optional(texts.born),
  colour: Type.Optional(texts.colour),
  size: Type.Optional(texts.size),
  own: Type.Optional(own),
};

/** What buyers choose by (specification 2.7). */
export const Facts = named("Facts", Type.Object(optional, { additionalProperties: false, description: "What buyers choose by." }));
export type Facts = Static<typeof Facts>;
/** The body of a write. It has its own schema because an optional field may be null in a body, but never in an answer. */
export const FactsInput = named("FactsInput", Type.Object(optional, { additionalProperties: false }));
export const FactsPatch = named(
  "FactsPatch",
  Type.Object(
    {
      species: Type.Optional(Nullable(texts.species)),
      breed: Type.Optional(Nullable(texts.breed)),
      sex: Type.Optional(Nullable(texts.sex)),
      born: Type.Optional(Nullable(texts.born)),
      colour: Type.Optional(Nullable(texts.colour)),
      size: Type.Optional(Nullable(texts.size)),
      own: Type.Optional(Nullable(own)),
    },
    { additionalProperties: false, description: "Facts that are left out stay as they are." },
  ),
);

type GivenFacts = { [Fact in keyof Facts]?: Facts[Fact] | null };

/**
 * Facts in the order in which pages show them; null if there are none.
 *
 * @param path where they are in the request
 * @throws Problem `invalid_request` for a day that is in no calendar, and for two of the shop's own facts with one name
 */
export function factsOf(given: GivenFacts, path = "body.facts"): Facts | null {
  const { born: birth, own: further } = given;
  if (birth && !isDay(birth)) throw invalidAt(`${path}.born`, "is a day that no calendar has");
  const names = (further ?? []).map(({ name }) => normalize(name));
  const again = names.findIndex((name, i) => names.indexOf(name) < i);
  if (again >= 0) throw invalidAt(`${path}.own[${again}].name`, "is that of an earlier fact");
  const facts: Facts = {};
  for (const name of factNames) {
    const value = given[name];
    if (value) facts[name] = value;
  }
  if (further && further.length > 0) facts.own = further.map(({ name, value }) => ({ name, value }));
  return Object.keys(facts).length === 0 ? null : facts;
}

/** Facts after a merge patch (RFC 7396). @throws Problem `invalid_request` as `factsOf` */
export function patchFacts(current: Facts | null, patch: GivenFacts | null | undefined): Facts | null {
  if (patch === undefined) return current;
  return patch === null ? null : factsOf({ ...current, ...patch });
}

/** Whether a text of the form of a date or a year is one. */
function isDay(text: string): boolean {
  const at = Date.parse(`${text.padEnd(10, "-01")}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** The facts of a pet by which lists filter. */
export function factRowsOf(petId: number, facts: Facts | null): FactRow[] {
  return factNames.flatMap((name) => {
    const value = facts?.[name];
    return value === undefined ? [] : [{ petId, name, value }];
  });
}

/** Whether a stored value has the form of facts. */
export function isFacts(value: unknown): value is Facts {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { own: further = [], ...others } = value as Record<string, unknown>;
  const isText = (one: unknown): boolean => typeof one === "string";
  const isOwn = (one: unknown): boolean =>
    typeof one === "object" && one !== null && isText((one as { name?: unknown }).name) && isText((one as { value?: unknown }).value);
  const known = new Set<string>(factNames);
  return Array.isArray(further) && further.every(isOwn) && Object.entries(others).every(([name, one]) => known.has(name) && isText(one));
}
