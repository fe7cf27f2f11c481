import { ActionIcon, Menu } from "@mantine/core";
import type { ReactNode } from "react";
import { DotsIcon } from "../frame/icons.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./row-menu.module.css";

export type RowAction = { label: string; run: () => void; isDangerous?: boolean };

/** The menu beside something: what can be done with it. `of` names it for who cannot see what it stands beside. */
export function RowMenu({ of, actions }: { of: string; actions: RowAction[] }): ReactNode {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" c="dimmed" size="lg" aria-label={texts.dashboard.actionsFor(of)}>
          <DotsIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, run, isDangerous }) => (
          <Menu.Item key={label} className={isDangerous ? styles.dangerous : undefined} onClick={run}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
