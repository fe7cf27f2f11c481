import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { PaletteProps } from "../frame/late-palette.tsx";
import { Palette } from "../frame/palette.tsx";
import { useReferenceCommands } from "../reference/commands.tsx";
import { descriptionQuery } from "../reference/load.ts";
import { useDashboardCommands } from "./commands.ts";
import { useShopSearch } from "./shop-search.tsx";

/** The command palette with the entries of the dashboard and the reference, and with the shop's pets and orders. */
export function EveryPalette(props: PaletteProps): ReactNode {
  const dashboard = useDashboardCommands();
  const reference = useReferenceCommands(props.isOpen);
  const shop = useShopSearch(props.query);
  const { isFetching } = useQuery({ ...descriptionQuery, enabled: false });
  return <Palette {...props} commands={[...dashboard, ...reference]} {...shop} isSearching={shop.isSearching || isFetching} />;
}
