import { Button, CloseButton, Drawer, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useLocation } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { MenuIcon } from "./icons.tsx";
import { Main } from "./main.tsx";
import styles from "./sidebar.module.css";

type Props = { isWide?: boolean; label: string; navigation: ReactNode; children: ReactNode };

/** A page with its navigation beside it, or in a drawer on a narrow screen. */
export function WithSidebar({ isWide = false, label, navigation, children }: Props): ReactNode {
  const [opened, { open, close }] = useDisclosure(false);
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
      <Drawer opened={opened} onClose={close} size={320} withCloseButton={false} attributes={{ content: { "aria-label": label } }}>
        <Group justify="flex-end">
          <CloseButton aria-label={texts.closeMenu} onClick={close} />
        </Group>
        {navigation}
      </Drawer>
      <Main className={styles.content}>{children}</Main>
    </div>
  );
}
