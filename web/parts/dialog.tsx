import { Modal, type ModalProps } from "@mantine/core";
import type { ReactNode } from "react";
import { useFocusReturn } from "../frame/focus.ts";
import { texts } from "../texts/texts.ts";
import { useGuard } from "./unsaved.tsx";

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
      <div ref={chooseFocus}>{children}</div>
    </Modal>,
  );
}

const controls = "input, select, textarea, button, a[href]";

/**
 * Lets the focus begin at the first control of the content, unless another one is marked: otherwise it would begin at the button that closes.
 * Content that has no control yet gets the focus with its first one.
 */
function chooseFocus(content: HTMLElement | null): (() => void) | undefined {
  if (content === null) return undefined;
  const mark = (): HTMLElement | null => {
    const control = content.querySelector<HTMLElement>("[data-autofocus]") ?? content.querySelector<HTMLElement>(controls);
    control?.setAttribute("data-autofocus", "");
    return control;
  };
  if (mark() !== null) return undefined;
  const observer = new MutationObserver(() => {
    const control = mark();
    if (control === null) return;
    observer.disconnect();
    control.focus();
  });
  observer.observe(content, { childList: true, subtree: true });
  return () => observer.disconnect();
}
