import { useMantineColorScheme } from "@mantine/core";
import { Spotlight, spotlight } from "@mantine/spotlight";
import { useMemo, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { SearchIcon } from "./icons.tsx";
import { search } from "./search.ts";

/** An entry of the palette; `texts` are its search terms, the best first. */
export type Command = { id: string; group: string; label: string; hint: ReactNode; texts: string[]; run: () => void };

export const openPalette = spotlight.open;
const shownMax = 12;

/** `commands` are searched; `found` are shown above them as they are. */
export type Searched = {
  query: string;
  onQuery: (query: string) => void;
  commands: Command[];
  found: Command[];
  /** More may be found in a moment. */
  isSearching: boolean;
};

/** The command palette: Ctrl or ⌘ with K, or `/`, anywhere outside a field. */
export function Palette({ query, onQuery, commands, found: above, isSearching }: Searched): ReactNode {
  const colours = useColourCommands();
  const below = useMemo(() => search(query, [...commands, ...colours]), [query, commands, colours]).slice(
    0,
    query.trim() === "" ? undefined : shownMax,
  );
  const found = [...above, ...below];
  const groups = [...new Set(found.map(({ group }) => group))];
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={onQuery}
      shortcut={["mod + K", "/"]}
      scrollable
      maxHeight={460}
      size={620}
      attributes={{ content: { "aria-label": texts.palette.title } }}
    >
      <Spotlight.Search placeholder={texts.palette.placeholder} aria-label={texts.palette.title} leftSection={<SearchIcon />} />
      <Spotlight.ActionsList>
        {found.length === 0 && <Spotlight.Empty>{isSearching ? texts.palette.searching : texts.palette.nothing}</Spotlight.Empty>}
        {groups.map((group) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {found
              .filter((command) => command.group === group)
              .map(({ id, label, hint, run }) => (
                <Spotlight.Action key={id} label={label} rightSection={hint} onClick={run} />
              ))}
          </Spotlight.ActionsGroup>
        ))}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

/** Dark, light, and the colours of the device, for the command palette. */
function useColourCommands(): Command[] {
  const { setColorScheme } = useMantineColorScheme();
  return useMemo(() => {
    const { colours: group, words } = texts.palette;
    const labels = { dark: texts.toDark, light: texts.toLight, auto: texts.toSystem } as const;
    return (["dark", "light", "auto"] as const).map((scheme) => {
      const label = labels[scheme];
      return { id: `colours ${scheme}`, group, label, hint: null, texts: [label, ...words], run: () => setColorScheme(scheme) };
    });
  }, [setColorScheme]);
}
