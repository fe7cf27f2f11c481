import { Modal, type ModalProps } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { useGuard } from "./unsaved.tsx";
import { useFocusReturn } from "./use-focus-return.ts";

type Props = Pick<ModalProps, "size"> & { title: string; onClose: () => void; children: ReactNode };

/** A dialog, open while it is mounted. A click outside does not close it, and it asks before it closes with unsaved input. */
export function Dialog({ title, onClose, children, ...look }: Props): ReactNode {
  useFocusReturn();
  const { close, guard } = useGuard(onClose);
  return guard(
    <Modal
      opened
      onClose={close}
      closeOnClickOutside={false}
      title={title}
      closeButtonProps={{ "aria-label": texts.dashboard.close }}
      {...look}
    >
      {children}
    </Modal>,
  );
}
