import { Select } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ask, type CurrentUser } from "../calls/members.ts";
import { showAnswer } from "../calls/rows.ts";
import { sessionQuery } from "../dashboard/session.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../parts/notices.ts";
import { useShopCurrency } from "../pets/shop-currency.ts";
import { currencyTexts as words } from "../texts/en-currency.ts";

/** Asks an owner for the currency of new prices. */
export default function CurrencyDialog({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const currency = useShopCurrency();
  const form = useCallForm<{ currency: string | null }, CurrentUser>({
    initial: { currency },
    send: (given) => ask("PATCH /account", { body: given }),
    onDone: (user, given) => {
      showAnswer(client, sessionQuery.queryKey, user);
      notify(words.done(given.currency ?? currency));
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.title} onClose={onClose}>
      <CallForm form={form} submit={words.action} onCancel={onClose}>
        <Select
          label={words.label}
          description={words.hint}
          data={choicesWith(currency)}
          allowDeselect={false}
          searchable
          data-autofocus
          {...form.choice("currency")}
        />
      </CallForm>
    </Dialog>
  );
}

/** All currencies, and the shop's even if this browser does not know it, with their names in the reader's language. */
function choicesWith(currency: string): { value: string; label: string }[] {
  const names = new Intl.DisplayNames(undefined, { type: "currency" });
  const codes = new Set([...Intl.supportedValuesOf("currency"), currency]);
  return Array.from(codes, (value) => ({ value, label: `${value} – ${names.of(value)}` }));
}
