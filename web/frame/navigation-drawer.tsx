import { CloseButton, Drawer, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";

type Props = { opened: boolean; label: string; onClose: () => void; children: ReactNode };

/** The navigation of a page in a drawer, on a narrow screen. */
export function NavigationDrawer({ opened, label, onClose, children }: Props): ReactNode {
  return (
    <Drawer opened={opened} onClose={onClose} size={320} withCloseButton={false} attributes={{ content: { "aria-label": label } }}>
      <Group justify="flex-end">
        <CloseButton aria-label={texts.closeMenu} onClick={onClose} />
      </Group>
      {children}
    </Drawer>
  );
}
