import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { stockQuery } from "./queries.ts";
import { StockCount } from "./stock-count.tsx";
import styles from "./stock-count.module.css";

/** The stock of an animal in a table row, edited in place. */
export function StockCell({ petId, name }: { petId: number; name: string }): ReactNode {
  const { data: item } = useQuery(stockQuery(petId));
  if (!item) return <span className={styles.untracked}>{item === null ? texts.store.inventory.notTracked : "…"}</span>;
  return (
    <div>
      <StockCount item={item} name={name} />
    </div>
  );
}
