import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { PaletteProps } from "../frame/late-palette.tsx";
import { Palette } from "../frame/palette.tsx";
import { useReferenceCommands } from "../reference/commands.tsx";
import { descriptionQuery } from "../reference/load.ts";

/** The command palette with the entries of the reference only. */
export function ReferencePalette(props: PaletteProps): ReactNode {
  const commands = useReferenceCommands(props.isOpen);
  const { isFetching } = useQuery(descriptionQuery);
  return <Palette {...props} commands={commands} found={[]} further={undefined} isSearching={isFetching} />;
}
