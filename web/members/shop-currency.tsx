import { Button } from "@mantine/core";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { useShopCurrency } from "../pets/shop-currency.ts";
import { currencyTexts as words } from "../texts/en-currency.ts";

const CurrencyDialog = lazy(() => import("./currency-dialog.tsx"));

/** A button that shows the currency of new prices, and lets owners change it. */
export function ShopCurrency(): ReactNode {
  const currency = useShopCurrency();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        {words.open(currency)}
      </Button>
      <Suspense>{isOpen && <CurrencyDialog onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
