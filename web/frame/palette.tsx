import { Spotlight, spotlight } from "@mantine/spotlight";
import { useState, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { SearchIcon } from "./icons.tsx";
import { search } from "./search.ts";

/** An entry of the palette; `texts` are its search terms, the best first. */
export type Command = { id: string; group: string; label: string; hint: ReactNode; texts: string[]; run: () => void };

export const openPalette = spotlight.open;
const shownMax = 12;

/** The command palette: Ctrl or ⌘ with K, or `/`, anywhere outside a field. */
export function Palette({ commands }: { commands: Command[] }): ReactNode {
  const [query, setQuery] = useState("");
  const found = search(query, commands).slice(0, query.trim() === "" ? commands.length : shownMax);
  const groups = [...new Set(found.map(({ group }) => group))];
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      shortcut={["mod + K", "/"]}
      scrollable
      maxHeight={460}
      size={620}
      attributes={{ content: { "aria-label": texts.palette.title } }}
    >
      <Spotlight.Search placeholder={texts.palette.placeholder} aria-label={texts.palette.title} leftSection={<SearchIcon />} />
      <Spotlight.ActionsList>
        {found.length === 0 && <Spotlight.Empty>{texts.palette.nothing}</Spotlight.Empty>}
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
