/** Parsers of search parameters. They drop invalid values, so that a mistyped address still shows a page. */

/** A non-empty string; the router parses `?q=12` as a number. */
export function textIn(value: unknown, charactersMax = 200): string | undefined {
  const text = typeof value === "string" || typeof value === "number" ? String(value).slice(0, charactersMax) : "";
  return text === "" ? undefined : text;
}

export function idIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
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
