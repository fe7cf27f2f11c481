import { Modal, type ModalProps } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { useFocusReturn } from "./use-focus-return.ts";

type Props = Pick<ModalProps, "size" | "centered"> & { title: string; onClose: () => void; children: ReactNode };

/** A dialog that a click outside does not close; mount it to open it. */
export function Dialog({ title, onClose, children, ...look }: Props): ReactNode {
  useFocusReturn();
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      title={title}
      closeButtonProps={{ "aria-label": texts.dashboard.close }}
      {...look}
    >
      {children}
    </Modal>
  );
}
