import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useColorScheme } from "@mantine/hooks";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { MoonIcon, SunIcon, SystemIcon } from "./icons.tsx";

/** Switches between dark and light, then back to the system's colours. Default: the system's. */
export function ColorSchemeButton(): ReactNode {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const system = useColorScheme("light", { getInitialValueInEffect: false });
  // the other colours come first, so that two presses show both
  const isChosen = colorScheme !== "auto" && colorScheme === system;
  const label = isChosen ? texts.toSystem : scheme === "dark" ? texts.toLight : texts.toDark;
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        c="dimmed"
        size="lg"
        aria-label={label}
        onClick={() => setColorScheme(isChosen ? "auto" : scheme === "dark" ? "light" : "dark")}
      >
        {isChosen ? <SystemIcon /> : scheme === "dark" ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
    </Tooltip>
  );
}
