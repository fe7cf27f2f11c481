import type { PetStore } from "../../client/client.ts";
import { pages } from "../../client/pages.ts";
import { refusal } from "../../client/refusals.ts";
import { normalize } from "../platform/folding.ts";
import { idsMax } from "./exported-pets.ts";
import type { Inspected } from "./inspect.ts";
import type { Mapping } from "./mapping-schema.ts";
import { isPet, petOf } from "./pets.ts";

/** The former sources that are compared with a file. */
const comparedMax = 5;
/** The fewest animals whose ids are known, all with other names, that make another system likely. */
const otherNamesMin = 5;
const sourceDefault = "Import";
/** The source of edited exports of the shop itself. No other file comes from it. */
export const editsSource = "Edited export";

/** The file's name without its ending, dates and numbers, so that monthly files have the same one; with the sheet's if several sheets have rows. */
function nameOf(fileName: string, { sheets = [], format }: Inspected): string {
  const [base = ""] = fileName.split(/[/\\]/).slice(-1);
  const words = base
    .replace(/([.-]petstore)?-rejects\.csv$/i, "")
    .replace(/\.[a-z]{2,5}$/i, "")
    .split(/[^\p{L}]+/u);
  const name = words.filter((word) => word !== "").join(" ");
  const sheet = sheets.length > 1 ? ` ${format.sheet ?? ""}`.trimEnd() : "";
  return `${name === "" ? sourceDefault : name}${sheet}`.slice(0, 200);
}

/** The sources of this shop other than its own exports, that of the newest import first. @throws PetStoreError */
export async function formerSources(client: PetStore): Promise<string[]> {
  const answer = await client.GET("/imports", { params: { query: { sort: "-id", limit: 100 } } });
  if (!answer.data) throw refusal(answer);
  const sources = new Map(answer.data.map(({ source }) => [normalize(source), source]));
  sources.delete(normalize(editsSource));
  return [...sources.values()];
}

/** `isOther`: a former source of this name knows the ids, but for animals with other names. Only a person can say whether it is the same source. */
export type ProposedSource = { source: string; isOther: boolean };
/** The id and the name of a row's animal. */
export type NamedRow = { sourceId: string; name: string };

/** Proposes the source of a file: a former one that knows its first animals, else one named after the file. @throws PetStoreError */
export async function proposeSource(client: PetStore, file: string, mapping: Mapping, inspected: Inspected): Promise<ProposedSource> {
  const toPet = petOf(
    mapping,
    inspected.header.map((cell) => cell.trim()),
  );
  const rows = inspected.first.map(({ cells }) => toPet(cells)).filter(isPet);
  const { source, others } = await sourceKnowing(client, await formerSources(client), rows);
  const own = mapping.source ?? nameOf(file, inspected);
  return { source: source ?? own, isOther: source === undefined && others.includes(normalize(own)) };
}

/**
 * The former source that knows at least half of the ids of these rows, and at least half of these animals by their names: two systems may both count
 * from 1. `others` are the sources that know the ids and none of the names. @throws PetStoreError
 */
export async function sourceKnowing(
  client: PetStore,
  sources: readonly string[],
  rows: readonly NamedRow[],
): Promise<{ source?: string; others: string[] }> {
  const byId = new Map(rows.filter(({ sourceId }) => sourceId !== "" && sourceId.length <= 200).map((row) => [row.sourceId, row.name]));
  const ids = [...byId.keys()].slice(0, idsMax);
  const names = new Set([...byId.values()].map(normalize));
  const others: string[] = [];
  for (const source of ids.length === 0 ? [] : sources.slice(0, comparedMax)) {
    let [known, named] = [0, 0];
    for await (const page of pages(client, "/pets", { source, sourceId: ids })) {
      known += page.length;
      named += page.filter(({ name }) => names.has(normalize(name))).length;
    }
    if (known * 2 < ids.length) continue;
    if (named * 2 >= known) return { source, others };
    if (named === 0 && known >= otherNamesMin) others.push(normalize(source));
  }
  return { others };
}

/** The newest import of a source; undefined if there is none. @throws PetStoreError */
export async function newestImport(client: PetStore, source: string): Promise<number | undefined> {
  const answer = await client.GET("/imports", { params: { query: { source, sort: "-id", limit: 1 } } });
  if (!answer.data) throw refusal(answer);
  return answer.data[0]?.id;
}
