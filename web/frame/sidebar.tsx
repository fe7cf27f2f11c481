import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazyRouteComponent, useLocation } from "@tanstack/react-router";
import { Suspense, useEffect, type ReactNode } from "react";
import { MenuIcon } from "./icons.tsx";
import { Main } from "./main.tsx";
import styles from "./sidebar.module.css";
import { useIdle } from "./use-idle.ts";

const NavigationDrawer = lazyRouteComponent(() => import("./navigation-drawer.tsx"), "NavigationDrawer");

type Props = { isWide?: boolean; label: string; navigation: ReactNode; children: ReactNode };

/** A page with its navigation beside it, or in a drawer on a narrow screen. */
export function WithSidebar({ isWide = false, label, navigation, children }: Props): ReactNode {
  const [opened, { open, close }] = useDisclosure(false);
  const isIdle = useIdle();
  const { pathname } = useLocation();
  useEffect(close, [pathname, close]);
  return (
    <div className={styles.columns} data-wide={isWide}>
      <div className={`${styles.sidebar} screen-only`}>{navigation}</div>
      <div className={`${styles.bar} screen-only`}>
        <Button variant="subtle" color="gray" c="dimmed" size="compact-md" leftSection={<MenuIcon />} onClick={open}>
          {label}
        </Button>
      </div>
      <Suspense>
        {(isIdle || opened) && (
          <NavigationDrawer opened={opened} onClose={close} label={label}>
            {navigation}
          </NavigationDrawer>
        )}
      </Suspense>
      <Main className={styles.content}>{children}</Main>
    </div>
  );
}
