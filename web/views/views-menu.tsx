import { Button, Menu, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from "react";
import { reread } from "../calls/rows.ts";
import { CheckIcon } from "../frame/icons.tsx";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify, notifyError } from "../parts/notices.ts";
import { viewTexts as words } from "../texts/en-views.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { deleteView, saveView, viewsMax, viewsQuery, type View, type ViewList, type ViewsProps } from "./queries.ts";
import styles from "./views-menu.module.css";

type OpenDialog = { kind: "save" } | { kind: "delete"; view: View };

/** Opens as soon as the views are read: names them, opens one, and saves what the page shows as another. A view is deleted while the page shows it. */
export default function ViewsMenu({ list, shown, onOpen }: ViewsProps): ReactNode {
  const client = useQueryClient();
  const button = useRef<HTMLButtonElement>(null);
  const { data: views = [] } = useQuery({ ...viewsQuery(list), enabled: false });
  const [isOpen, setOpen] = useState(false);
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const open = () => void client.fetchQuery(viewsQuery(list)).then(() => setOpen(true), notifyError);

  // takes the focus of the button that this one replaces
  const begin = useEffectEvent(() => {
    button.current?.focus({ preventScroll: true });
    open();
  });
  useEffect(() => begin(), []);

  /** The menu item unmounts with the menu: move the focus to the button first, so that a dialog can restore it. */
  function choose(run: () => void): void {
    button.current?.focus({ preventScroll: true });
    run();
  }
  return (
    <>
      <Menu position="bottom-start" opened={isOpen} onChange={(isWanted) => (isWanted ? open() : setOpen(false))}>
        <Menu.Target>
          <Button ref={button} variant="default">
            {texts.store.views}
          </Button>
        </Menu.Target>
        <Menu.Dropdown className={styles.menu}>
          <Items
            {...{ views, shown }}
            onOpen={(view) => choose(() => onOpen({ ...view.query }))}
            onSave={() => choose(() => setDialog({ kind: "save" }))}
            onDelete={(view) => choose(() => setDialog({ kind: "delete", view }))}
          />
        </Menu.Dropdown>
      </Menu>
      {dialog?.kind === "save" && <SaveDialog list={list} query={shown} onClose={close} />}
      {dialog?.kind === "delete" && <DeleteDialog list={list} view={dialog.view} onClose={close} />}
    </>
  );
}

type ItemsProps = {
  views: readonly View[];
  shown: object;
  onOpen: (view: View) => void;
  onSave: () => void;
  onDelete: (view: View) => void;
};

function Items({ views, shown, onOpen, onSave, onDelete }: ItemsProps): ReactNode {
  const isShown = ({ query }: View): boolean => textOf(query) === textOf(shown);
  const nowShown = views.filter(isShown);
  const isPlain = Object.keys(shown).length === 0;
  const isFull = views.length >= viewsMax;
  const hasNothingToSave = isPlain || isFull || nowShown.length > 0;
  return (
    <>
      {views.map((view) => (
        <Menu.Item
          key={view.id}
          aria-current={isShown(view) || undefined}
          leftSection={<span className={styles.mark}>{isShown(view) && <CheckIcon />}</span>}
          onClick={() => onOpen(view)}
        >
          {view.name}
        </Menu.Item>
      ))}
      {views.length > 0 && <Menu.Divider />}
      {isFull && <Menu.Label>{words.full(formatNumber(viewsMax))}</Menu.Label>}
      {isPlain && !isFull && <Menu.Label>{words.none}</Menu.Label>}
      <Menu.Item {...(hasNothingToSave ? { "data-disabled": true, "aria-disabled": true } : { onClick: onSave })}>{words.save}</Menu.Item>
      {nowShown.map((view) => (
        <Menu.Item key={view.id} className={styles.dangerous} onClick={() => onDelete(view)}>
          {words.delete(view.name)}
        </Menu.Item>
      ))}
    </>
  );
}

/** Parameters in one order, to compare them. */
function textOf(query: object): string {
  return JSON.stringify(Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function SaveDialog({ list, query, onClose }: { list: ViewList; query: object; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const form = useCallForm<{ name: string }, View>({
    initial: { name: "" },
    send: ({ name }) => saveView(list, { name, query }),
    onDone: ({ name }) => {
      notify(words.saved(name));
      void reread(client, viewsQuery(list));
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.saveTitle} onClose={onClose}>
      <CallForm form={form} submit={words.action} onCancel={onClose}>
        <TextInput label={words.name} description={words.nameHint} maxLength={50} data-autofocus {...form.text("name")} />
      </CallForm>
    </Dialog>
  );
}

function DeleteDialog({ list, view, onClose }: { list: ViewList; view: View; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={words.deleteTitle(view.name)}
      action={words.deleteAction}
      onConfirm={() => deleteView(list, view.id)}
      onDone={() => {
        notify(words.deleted(view.name));
        void reread(client, viewsQuery(list));
      }}
      onClose={onClose}
    >
      <p>{words.deleteText}</p>
    </ConfirmDialog>
  );
}
