import { useEffect, useRef, useState, type ComponentType, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { SearchIcon } from "./icons.tsx";
import styles from "./late-palette.module.css";
import { useLater } from "./use-later.ts";

export type PaletteProps = { isOpen: boolean; query: string; onQuery: (query: string) => void; onClose: () => void };

/** Loads the code of a palette. */
export type LoadPalette = () => Promise<ComponentType<PaletteProps>>;

type Late = PaletteProps & { Palette: ComponentType<PaletteProps> | undefined; isTyping: boolean; onBlur: () => void; open: () => void };

/** The state of a palette, and `open`. Text typed before its code has loaded goes into `query`. */
export function useLatePalette(load: LoadPalette): Late {
  const { code: Palette, loadNow } = useLater("palette", load);
  const [isOpen, setOpen] = useState(false);
  const [isTyping, setTyping] = useState(false);
  const [query, setQuery] = useState("");
  const before = useRef<Element>(null);
  const wasOpened = useRef(false);

  function open(): void {
    before.current = document.activeElement;
    setTyping(!wasOpened.current);
    wasOpened.current = Palette !== undefined;
    loadNow();
    setOpen(true);
  }

  function close(): void {
    setOpen(false);
    setTyping(false);
    if (before.current instanceof HTMLElement) before.current.focus({ preventScroll: true });
  }

  return {
    Palette,
    isOpen,
    isTyping,
    query,
    open,
    onQuery: setQuery,
    onClose: close,
    onBlur: () => setTyping(false),
  };
}

/** Shows the palette; until it takes the focus, a plain field takes the typed text. */
export function LatePalette({ Palette, isTyping, open: _open, onBlur, ...props }: Late): ReactNode {
  const { query, onQuery, onClose } = props;
  return (
    <>
      {isTyping && <EarlyField {...{ query, onQuery, onClose, onBlur }} />}
      {Palette && <Palette {...props} />}
    </>
  );
}

type FieldProps = Omit<PaletteProps, "isOpen"> & { onBlur: () => void };

function EarlyField({ query, onQuery, onClose, onBlur }: FieldProps): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);

  /** Enter may come when the palette shows what it found, and before it takes the focus. */
  function onKey(key: string): void {
    if (key === "Escape") onClose();
    if (key === "Enter") document.querySelector<HTMLElement>("[role=dialog] [data-action][data-selected]")?.click();
  }

  return (
    <search className={styles.box}>
      <input
        ref={field}
        className={styles.field}
        value={query}
        placeholder={texts.palette.placeholder}
        aria-label={texts.palette.title}
        onChange={({ currentTarget }) => onQuery(currentTarget.value)}
        onKeyDown={({ key }) => onKey(key)}
        onBlur={onBlur}
      />
      <SearchIcon />
    </search>
  );
}
