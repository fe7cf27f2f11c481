import { Button, Textarea, TextInput } from "@mantine/core";
import { useEffect, useRef, type ReactNode } from "react";
import { pageLimits } from "../../src/publishing/storefront/settings.ts";
import { pagesTexts as words } from "../texts/en-pages.ts";
import styles from "./page-fields.module.css";
import type { ShopPage } from "./shop.ts";

type Props = { value: ShopPage[]; error: string | undefined; onChange: (pages: ShopPage[]) => void };

/** The pages of the shop's own, such as an imprint. A new page gets its address by its title when it is saved. */
export function PageFields({ value: pages, error, onChange }: Props): ReactNode {
  const add = useRef<HTMLButtonElement>(null);
  const group = useRef<HTMLFieldSetElement>(null);
  const count = useRef(pages.length);
  useEffect(() => {
    if (pages.length > count.current) [...group.current!.querySelectorAll("input")].at(-1)?.focus();
    count.current = pages.length;
  }, [pages.length]);
  const set = (place: number, change: Partial<ShopPage>): void =>
    onChange(pages.map((page, i) => (i === place ? { ...page, ...change } : page)));
  return (
    <fieldset ref={group} className={styles.pages} aria-describedby={error ? "pages-error" : "pages-hint"}>
      <legend>{words.title}</legend>
      <p id="pages-hint" className={styles.hint}>
        {words.hint}
      </p>
      {pages.map((page, i) => (
        <OnePage
          // oxlint-disable-next-line no-array-index-key -- a page that is not saved has no other name than its place
          key={i}
          page={page}
          place={i + 1}
          isWrong={error !== undefined}
          onChange={(change) => set(i, change)}
          onRemove={() => {
            add.current?.focus();
            onChange(pages.filter((_, place) => place !== i));
          }}
        />
      ))}
      {error && (
        <p id="pages-error" className={styles.error}>
          {error}
        </p>
      )}
      <Button
        ref={add}
        variant="default"
        size="compact-sm"
        disabled={pages.length >= pageLimits.countMax}
        onClick={() => onChange([...pages, { slug: "", title: "", text: "" }])}
      >
        {words.add}
      </Button>
    </fieldset>
  );
}

type PageProps = { page: ShopPage; place: number; isWrong: boolean; onChange: (change: Partial<ShopPage>) => void; onRemove: () => void };

/** The title and the text of one page. Those that are empty are marked while the pages are wrong. */
function OnePage({ page: { slug, title, text }, place, isWrong, onChange, onRemove }: PageProps): ReactNode {
  return (
    <div className={styles.page}>
      <TextInput
        label={words.pageTitle}
        aria-label={words.titleOf(place)}
        placeholder={words.example}
        maxLength={pageLimits.titleMax}
        error={isWrong && title.trim() === ""}
        value={title}
        onChange={({ currentTarget }) => onChange({ title: currentTarget.value })}
      />
      <Textarea
        label={words.text}
        aria-label={words.textOf(place)}
        autosize
        minRows={4}
        maxRows={16}
        maxLength={pageLimits.textMax}
        error={isWrong && text.trim() === ""}
        value={text}
        onChange={({ currentTarget }) => onChange({ text: currentTarget.value })}
      />
      <div className={styles.foot}>
        {slug !== "" && <code>/pages/{slug}</code>}
        <Button variant="subtle" size="compact-sm" aria-label={words.removeOf(place)} onClick={onRemove}>
          {words.remove}
        </Button>
      </div>
    </div>
  );
}
