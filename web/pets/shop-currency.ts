import { useSession } from "../dashboard/session.ts";

/** Returns the currency that new prices begin with. */
export function useShopCurrency(): string {
  return useSession().account.currency ?? "EUR";
}
