import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useLocation } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { MenuIcon } from "./icons.tsx";
import { Main } from "./main.tsx";
import styles from "./sidebar.module.css";
import { useLater } from "./use-later.ts";

const loadDrawer = async () => (await import("./navigation-drawer.tsx")).NavigationDrawer;

type Props = { isWide?: boolean; label: string; navigation: ReactNode; children: ReactNode };

/** A page with its navigation beside it, or in a drawer on a narrow screen. */
export function WithSidebar({ isWide = false, label, navigation, children }: Props): ReactNode {
  const [opened, { open, close }] = useDisclosure(false);
  const { code: NavigationDrawer, loadNow } = useLater("navigation drawer", loadDrawer);
  const { pathname } = useLocation();
  const openDrawer = () => {
    loadNow();
    open();
  };
  useEffect(close, [pathname, close]);
  return (
    <div className={styles.columns} data-wide={isWide}>
      <div className={`${styles.sidebar} screen-only`}>{navigation}</div>
      <div className={`${styles.bar} screen-only`}>
        <Button variant="subtle" color="gray" c="dimmed" size="compact-md" leftSection={<MenuIcon />} onClick={openDrawer}>
          {label}
        </Button>
      </div>
      {NavigationDrawer && (
        <NavigationDrawer opened={opened} onClose={close} label={label}>
          {navigation}
        </NavigationDrawer>
      )}
      <Main className={styles.content}>{children}</Main>
    </div>
  );
}
