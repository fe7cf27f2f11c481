import { Button, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { animalTexts as words } from "../texts/en-animal.ts";
import styles from "./animal-page.module.css";
import { factNames, isFilled, type FactValues, type OwnFact } from "./animal-values.ts";

const ownMax = 10;

type Props = { value: FactValues; errors: ReadonlyMap<string, string>; onChange: (facts: FactValues) => void };

/** The facts by which people choose, and those that the shop names itself. */
export function FactFields({ value, errors, onChange }: Props): ReactNode {
  const { own } = value;
  const setOwn = (place: number, change: Partial<OwnFact>): void =>
    onChange({ ...value, own: own.map((fact, i) => (i === place ? { ...fact, ...change } : fact)) });
  const sent = own.filter(isFilled);
  const errorOf = (fact: OwnFact, part: keyof OwnFact): string | undefined => errors.get(`own[${sent.indexOf(fact)}].${part}`);
  return (
    <fieldset className={styles.facts}>
      <legend>{words.facts}</legend>
      <p className={styles.hint}>{words.factsHint}</p>
      <div className={styles.pairs}>
        {factNames.map((name) => (
          <TextInput
            key={name}
            label={words.fact[name]}
            placeholder={words.factExample[name]}
            maxLength={100}
            value={value[name]}
            error={errors.get(name)}
            onChange={({ currentTarget }) => onChange({ ...value, [name]: currentTarget.value })}
          />
        ))}
      </div>
      {own.map((fact, i) => (
        // oxlint-disable-next-line no-array-index-key -- a further fact has no other name than its place
        <div key={i} className={styles.own}>
          <TextInput
            label={words.ownFact}
            aria-label={words.ownName(i + 1)}
            maxLength={50}
            value={fact.name}
            error={errorOf(fact, "name")}
            onChange={({ currentTarget }) => setOwn(i, { name: currentTarget.value })}
          />
          <TextInput
            label={words.ownValue}
            aria-label={words.ownOf(i + 1)}
            maxLength={200}
            value={fact.value}
            error={errorOf(fact, "value")}
            onChange={({ currentTarget }) => setOwn(i, { value: currentTarget.value })}
          />
          <Button
            variant="subtle"
            aria-label={words.removeFact(i + 1)}
            onClick={() => onChange({ ...value, own: own.filter((_, place) => place !== i) })}
          >
            ×
          </Button>
        </div>
      ))}
      {own.length < ownMax && (
        <Button variant="default" size="compact-sm" mt="sm" onClick={() => onChange({ ...value, own: [...own, { name: "", value: "" }] })}>
          {words.addFact}
        </Button>
      )}
    </fieldset>
  );
}
