import { Button, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { createContext, use, useRef, useState, type ReactNode } from "react";
import { flushSync } from "react-dom";
import { SearchIcon } from "../frame/icons.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./filters.module.css";

const typingMs = 250;
/** How many times the filters were cleared. */
const Clearings = createContext(0);

type FiltersProps = { search?: ReactNode; views?: ReactNode; children: ReactNode; onClear: (() => void) | undefined };

/** Filters above a table. On phones all but `search` and the saved `views` are behind a button. Pass `onClear` while there is something to clear. */
export function Filters({ search, views, children, onClear }: FiltersProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const bar = useRef<HTMLElement>(null);
  const [clearings, setClearings] = useState(0);

  /** The clear button disappears when pressed, so the focus moves to the first filter. */
  function clear(): void {
    onClear?.();
    flushSync(() => setClearings(clearings + 1));
    bar.current?.querySelector("input")?.focus();
  }
  return (
    <search ref={bar} className={styles.filters} data-open={isOpen}>
      <Clearings value={clearings}>
        {search}
        <Button className={styles.fold} variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {texts.store.filters}
        </Button>
        <div className={styles.more}>{children}</div>
      </Clearings>
      {views}
      {onClear && (
        <Button className={styles.clear} variant="subtle" onClick={clear}>
          {texts.store.clearFilters}
        </Button>
      )}
    </search>
  );
}

type SearchFieldProps = { label: string; placeholder: string; value: string; onChange: (text: string) => void };

/** A text filter that applies when typing pauses; clearing the filters drops pending text. */
export function SearchField(props: SearchFieldProps): ReactNode {
  return <DebouncedField key={use(Clearings)} {...props} />;
}

function DebouncedField({ label, placeholder, value, onChange }: SearchFieldProps): ReactNode {
  // typed text is shown only while the value is the one it was typed over; a value that changes elsewhere replaces it
  const [typed, setTyped] = useState({ upon: value, text: value });
  const apply = useDebouncedCallback((text: string) => {
    setTyped((before) => ({ ...before, upon: text.trim() }));
    onChange(text.trim());
  }, typingMs);
  return (
    <TextInput
      className={styles.wide}
      type="search"
      label={label}
      placeholder={placeholder}
      leftSection={<SearchIcon />}
      value={typed.upon === value ? typed.text : value}
      onChange={({ currentTarget }) => {
        setTyped({ upon: value, text: currentTarget.value });
        apply(currentTarget.value);
      }}
    />
  );
}
