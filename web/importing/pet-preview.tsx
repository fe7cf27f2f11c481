import type { ReactNode } from "react";
import { factNames } from "../../src/importing/header-words.ts";
import { listed } from "../../src/importing/lists.ts";
import type { Mapping } from "../../src/importing/mapping-schema.ts";
import type { Pet } from "../../src/importing/pets.ts";
import { decimalAmount } from "../../src/platform/currencies.ts";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { StatusBadge } from "../pets/status-badge.tsx";
import { animalTexts } from "../texts/en-animal.ts";
import { importTexts as words } from "../texts/en-import-file.ts";
import { profileTexts } from "../texts/en-import-profile.ts";

const idColumn: Column<Pet> = { id: "id", header: words.id, width: "170px", cell: ({ sourceId }) => sourceId };
const petColumns: Column<Pet>[] = [
  { id: "name", header: words.name, cell: ({ name }) => name },
  { id: "category", header: words.category, cell: ({ category }) => category },
  { id: "status", header: words.status, width: "140px", cell: ({ status }) => <StatusBadge status={status} /> },
];
const stockColumn: Column<Pet> = { id: "stock", header: profileTexts.stock, width: "90px", cell: ({ quantity }) => quantity };
const priceColumn: Column<Pet> = {
  id: "price",
  header: profileTexts.price,
  width: "140px",
  cell: ({ profile }) => profile?.price && `${decimalAmount(profile.price)} ${profile.price.currency}`,
};

const factsColumn: Column<Pet> = {
  id: "facts",
  header: animalTexts.facts,
  cell: ({ profile }) => {
    const facts = profile?.facts;
    return facts && listed([...factNames.flatMap((name) => facts[name] ?? []), ...(facts.own ?? []).map(({ value }) => value)]);
  },
};

/** The first pets that the mapping produces. */
export function PetPreview({ animals, mapping: { id, price, stock, facts } }: { animals: readonly Pet[]; mapping: Mapping }): ReactNode {
  const columns = [
    ...(id === undefined ? [] : [idColumn]),
    ...petColumns,
    ...(price ? [priceColumn] : []),
    ...(typeof stock === "object" ? [stockColumn] : []),
    ...(facts ? [factsColumn] : []),
  ];
  return <RowsTable label={words.firstAnimals} columns={columns} rows={animals} keyOf={({ sourceId }) => sourceId} />;
}
