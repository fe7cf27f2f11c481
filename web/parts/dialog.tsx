import { Modal, type ModalProps } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";

type Props = { title: string; size?: ModalProps["size"]; onClose: () => void; children: ReactNode };

/** A dialog with something to fill in or to read; mount it while it is open. */
export function Dialog({ title, size = "md", onClose, children }: Props): ReactNode {
  return (
    <Modal opened onClose={onClose} title={title} size={size} closeButtonProps={{ "aria-label": texts.dashboard.close }}>
      {children}
    </Modal>
  );
}
