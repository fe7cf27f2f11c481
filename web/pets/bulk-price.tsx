import { Group, SegmentedControl, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { bulkTexts as words } from "../texts/en-bulk.ts";
import { profileTexts } from "../texts/en-profile.ts";
import { priceChangeOf, priceHows, type PriceValues } from "./price-change.ts";
import { isTypedCurrency } from "./price.ts";

const hows = priceHows.map((value) => ({ value, label: words.hows[value] }));

type Props = { values: PriceValues; onChange: (values: PriceValues) => void };

/** Asks for a price, or by how many percent prices change. */
export function BulkPrice({ values, onChange }: Props): ReactNode {
  const { how, price, currency, percent } = values;
  const typed = how === "set" ? price : percent;
  const isWrong = typed.trim() !== "" && priceChangeOf(values) === undefined;
  return (
    <>
      <SegmentedControl
        aria-label={words.how}
        data={hows}
        value={how}
        onChange={(value) => onChange({ ...values, how: value })}
        mb="sm"
        fullWidth
      />
      {how === "set" ? (
        <Group gap="sm" grow align="flex-start">
          <TextInput
            label={profileTexts.price}
            inputMode="decimal"
            value={price}
            error={isWrong && isTypedCurrency(currency) && profileTexts.wrongPrice}
            onChange={({ currentTarget }) => onChange({ ...values, price: currentTarget.value })}
          />
          <TextInput
            label={profileTexts.currency}
            maxLength={3}
            value={currency}
            error={!isTypedCurrency(currency) && profileTexts.wrongCurrency}
            onChange={({ currentTarget }) => onChange({ ...values, currency: currentTarget.value })}
          />
        </Group>
      ) : (
        <TextInput
          label={words.percent}
          description={words.percentHint}
          inputMode="decimal"
          value={percent}
          error={isWrong && words.wrongPercent[how]}
          onChange={({ currentTarget }) => onChange({ ...values, percent: currentTarget.value })}
        />
      )}
    </>
  );
}
