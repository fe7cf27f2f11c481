import { MultiSelect } from "@mantine/core";
import type { ReactNode } from "react";
import type { Column } from "../../src/importing/columns.ts";
import { factNames } from "../../src/importing/header-words.ts";
import type { Mapping } from "../../src/importing/mapping-schema.ts";
import { animalTexts } from "../texts/en-animal.ts";
import { profileTexts as words } from "../texts/en-import-profile.ts";
import styles from "./importing.module.css";
import { ColumnSelect, namesIn } from "./mapping-editor.tsx";

type Facts = NonNullable<Mapping["facts"]>;
type Props = { columns: readonly Column[]; mapping: Mapping; onChange: (mapping: Mapping) => void };

/** As in a mapping: the most further facts, and the most characters of the name of one. */
const [ownMax, nameCharactersMax] = [10, 50];

const none: Facts = {};

/** The fields that choose the columns of facts: of the known ones, and of further ones, which take the names of their columns. */
export function FactColumns({ columns, mapping: { facts = none, ...mapping }, onChange }: Props): ReactNode {
  const names = namesIn(columns);
  function change<Fact extends keyof Facts>(fact: Fact, value: Facts[Fact] | undefined): void {
    const { [fact]: _before, ...others } = facts;
    const next = value === undefined ? others : { ...others, [fact]: value };
    onChange(Object.keys(next).length === 0 ? mapping : { ...mapping, facts: next });
  }
  return (
    <fieldset className={styles.values}>
      <legend className={styles.legend}>{animalTexts.facts}</legend>
      <div className={styles.fields}>
        {factNames.map((fact) => (
          <ColumnSelect
            key={fact}
            label={animalTexts.fact[fact]}
            placeholder={words.none}
            data={names}
            value={facts[fact]?.columns[0] ?? null}
            onChange={(name) => change(fact, name === null ? undefined : { columns: [name] })}
            clear={words.clear(animalTexts.fact[fact])}
          />
        ))}
        <MultiSelect
          label={words.ownFacts}
          description={words.ownFactsHint}
          data={names.filter((name) => name.length <= nameCharactersMax)}
          value={facts.own ?? []}
          maxValues={ownMax}
          onChange={(own) => change("own", own.length === 0 ? undefined : own)}
          searchable
        />
      </div>
    </fieldset>
  );
}
