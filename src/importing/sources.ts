import type { PetStore } from "../../client/client.ts";
import { pages } from "../../client/pages.ts";
import { refusal } from "../../client/refusals.ts";
import type { Inspected } from "./inspect.ts";
import type { Mapping } from "./mapping.ts";
import { isPet, petOf } from "./pets.ts";
import { normalize } from "../platform/normalize.ts";

/** Where the animals of a file come from: the name that each file of the same system has, and the file's own name, for people. */
export type ImportSource = { source: string; fileName: string };

/** The former sources that are compared with a file. */
const comparedMax = 5;
const idsMax = 100;
const sourceDefault = "Import";
/** The source of edited exports of the shop itself. No other file comes from it. */
export const editsSource = "Edited export";

/** The file's name without its ending, dates and numbers, so that monthly files have the same one. */
function nameOf(fileName: string): string {
  const [base = ""] = fileName.split(/[/\\]/).slice(-1);
  const words = base
    .replace(/([.-]petstore)?-rejects\.csv$/i, "")
    .replace(/\.[a-z]{2,5}$/i, "")
    .split(/[^\p{L}]+/u);
  const name = words.filter((word) => word !== "").join(" ");
  return name === "" ? sourceDefault : name.slice(0, 200);
}

/** The sources of this shop other than its own exports, that of the newest import first. @throws PetStoreError */
export async function formerSources(client: PetStore): Promise<string[]> {
  const answer = await client.GET("/imports", { params: { query: { sort: "-id", limit: 100 } } });
  if (!answer.data) throw refusal(answer);
  const sources = new Map(answer.data.map(({ source }) => [normalize(source), source]));
  sources.delete(normalize(editsSource));
  return [...sources.values()];
}

/** Proposes the source of a file: a former one that knows its first animals, else one named after the file. @throws PetStoreError */
export async function proposeSource(client: PetStore, file: string, mapping: Mapping, { header, first }: Inspected): Promise<string> {
  const toPet = petOf(
    mapping,
    header.map((cell) => cell.trim()),
  );
  const ids = first.map(({ cells }) => toPet(cells)).flatMap((pet) => (isPet(pet) ? [pet.sourceId] : []));
  return (await sourceKnowing(client, await formerSources(client), ids)) ?? mapping.source ?? nameOf(file);
}

/** The former source that knows at least half of these ids; undefined if none does. @throws PetStoreError */
export async function sourceKnowing(
  client: PetStore,
  sources: readonly string[],
  sourceIds: readonly string[],
): Promise<string | undefined> {
  const ids = [...new Set(sourceIds)].filter((id) => id !== "" && id.length <= 200).slice(0, idsMax);
  if (ids.length === 0) return undefined;
  for (const source of sources.slice(0, comparedMax)) {
    let known = 0;
    for await (const page of pages(client, "/pets", { source, sourceId: ids })) known += page.length;
    if (known * 2 >= ids.length) return source;
  }
  return undefined;
}

/** The newest import of a source; undefined if there is none. @throws PetStoreError */
export async function newestImport(client: PetStore, source: string): Promise<number | undefined> {
  const answer = await client.GET("/imports", { params: { query: { source, sort: "-id", limit: 1 } } });
  if (!answer.data) throw refusal(answer);
  return answer.data[0]?.id;
}
