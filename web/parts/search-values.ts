/** Parsers of search parameters. They drop invalid values, so that a mistyped address still shows a page. */

/** A non-empty string; the router parses `?q=12` as a number. */
export function textIn(value: unknown, charactersMax = 200): string | undefined {
  const text = typeof value === "string" || typeof value === "number" ? String(value).slice(0, charactersMax) : "";
  return text === "" ? undefined : text;
}

export function idIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}

const numberPattern = /^(?:(animal|order)s? |#)? ?([1-9][0-9]{0,14})$/i;

/** The number of an animal or an order that a search is for, such as `1234`, `#1234` or `order 1234`; undefined for another text. */
export function soughtNumber(text: string, of: "animal" | "order"): number | undefined {
  const [, noun = of, number] = numberPattern.exec(text.trim()) ?? [];
  return number !== undefined && noun.toLowerCase() === of ? Number(number) : undefined;
}

export function choiceIn<Choice extends string>(choices: readonly Choice[], value: unknown): Choice | undefined {
  return choices.find((choice) => choice === value);
}

/** Removes undefined values, so that the address has no empty parameters. */
export function present<T extends object>(values: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };
}
