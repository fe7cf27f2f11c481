import { Select, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { Filters, SearchField } from "../parts/filters.tsx";
import { activityTexts as words } from "../texts/en-activity.ts";
import type { Names } from "./names.ts";
import { activitySearch, dayIn, kindNames, type ActivityFilters } from "./search.ts";

type Props = { filters: ActivityFilters; names: Names; onChange: (filters: ActivityFilters) => void };

/** The filters above the list: who, what kind, when, and which request. */
export function ActivityFilterBar({ filters, names, onChange }: Props): ReactNode {
  const { who, kind = "shop", from, to, request } = filters;
  const set = (change: { [Name in keyof ActivityFilters]: ActivityFilters[Name] | undefined }) =>
    onChange(activitySearch({ ...filters, ...change }));
  const people = [...names].map(([value, label]) => ({ value, label }));
  const others = [
    { value: "operator", label: words.actors.operator },
    { value: "system", label: words.actors.system },
  ];
  const known = [...people, ...others];
  const former = who === undefined || known.some(({ value }) => value === who) ? [] : [{ value: who, label: formerName(who) }];
  return (
    <Filters onClear={Object.keys(filters).length > 0 ? () => onChange({}) : undefined}>
      <Select
        label={words.who}
        placeholder={words.anybody}
        data={[...known, ...former]}
        value={who ?? null}
        onChange={(value) => set({ who: value ?? undefined })}
        searchable
        clearable
      />
      <Select
        label={words.kind}
        data={kindNames.map((value) => ({ value, label: words.kinds[value] }))}
        value={kind}
        allowDeselect={false}
        onChange={(value) => set({ kind: kindNames.find((name) => name === value && name !== "shop") })}
      />
      <DayField label={words.from} value={from} onChange={(day) => set({ from: day })} />
      <DayField label={words.to} value={to} onChange={(day) => set({ to: day })} />
      <SearchField
        label={words.requestId}
        placeholder={words.requestIdHint}
        value={request ?? ""}
        onChange={(text) => set({ request: text || undefined })}
      />
    </Filters>
  );
}

/** The name of a key or member that no longer exists. */
function formerName(who: string): string {
  const [type, id] = who.split("/");
  return type === "key" ? words.formerKey(Number(id)) : words.formerMember(Number(id));
}

type DayProps = { label: string; value: string | undefined; onChange: (day: string | undefined) => void };

/** A day. A date that is only partly typed filters nothing. */
function DayField({ label, value, onChange }: DayProps): ReactNode {
  // shows typed text only while its day is the current value: a value that changes elsewhere replaces the text
  const [typed, setTyped] = useState({ day: value, text: value ?? "" });
  return (
    <TextInput
      type="date"
      label={label}
      value={typed.day === value ? typed.text : (value ?? "")}
      onChange={({ currentTarget: { value: text } }) => {
        const day = dayIn(text);
        setTyped({ day, text });
        if (day !== value) onChange(day);
      }}
    />
  );
}
