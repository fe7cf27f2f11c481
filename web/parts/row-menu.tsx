import { ActionIcon, Menu } from "@mantine/core";
import { useRef, type ReactNode } from "react";
import { DotsIcon } from "../frame/icons.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./row-menu.module.css";

export type RowAction = { label: string; run: () => void; isDangerous?: boolean };

/** A menu of actions for one item. `of` names the item for screen readers. */
export function RowMenu({ of, actions }: { of: string; actions: RowAction[] }): ReactNode {
  const button = useRef<HTMLButtonElement>(null);

  /** The menu item unmounts with the menu: move the focus to the button first, so that a dialog can restore it. */
  function choose(run: () => void): void {
    button.current?.focus({ preventScroll: true });
    run();
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon ref={button} variant="subtle" color="gray" c="dimmed" size="lg" aria-label={texts.dashboard.actionsFor(of)}>
          <DotsIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, run, isDangerous }) => (
          <Menu.Item key={label} className={isDangerous ? styles.dangerous : undefined} onClick={() => choose(run)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
