import { Type } from "../../platform/json-schema.ts";

/** The facts by which lists filter, in the order in which pages show them. */
export const factNames = ["species", "breed", "sex", "born", "colour", "size"] as const;
export type FactName = (typeof factNames)[number];

/** The most characters of a fact's value. */
export const factCharactersMax = 100;

/** A value of a fact that a list asks for. */
export type FactFilter = { name: FactName; value: string };

/** The query parameter that filters by one fact. */
export const FactQuery = Type.String({
  maxLength: factCharactersMax + 20,
  pattern: "^(species|breed|sex|born|colour|size):\\s*[^\\s\\x00][^\\x00]*$",
  description:
    "Only pets of which the profile has this fact, such as `breed:Beagle`: its name, a colon and the value, regardless of case. `born:2024` finds those born in that year.",
  "x-text": `must be one of ${factNames.join(", ")}, a colon and a value, as in breed:Beagle`,
});

/** The fact that a checked query parameter asks for. */
export function factOf(text: string): FactFilter {
  const colon = text.indexOf(":");
  return { name: text.slice(0, colon) as FactName, value: text.slice(colon + 1) };
}
