import { Button, Group, TextInput } from "@mantine/core";
import { useState, type ComponentType, type ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { Badge } from "../parts/badge.tsx";
import { CallForm, FormError, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { ContactLink } from "../parts/contact-link.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { DropZone } from "../parts/drop-zone.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Filters, SearchField } from "../parts/filters.tsx";
import { HistoryList } from "../parts/history-list.tsx";
import { Ago, Moment } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { PageGuard } from "../parts/page-guard.tsx";
import { Section } from "../parts/page-header.tsx";
import { ReloadIfChanged } from "../parts/reload-if-changed.tsx";
import { RowMenu } from "../parts/row-menu.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { SaveBar } from "../parts/save-bar.tsx";
import { Secret } from "../parts/secret.tsx";
import { Ask } from "../parts/unsaved.tsx";

const question = { title: "Leave without saving?", text: "The changes are lost.", leave: "Leave", stay: "Stay" };
const nothing = (): void => undefined;
const refusal = (code: string, status: number, message: string): Refusal => new Refusal(code, message, { status });
const changed = refusal("precondition_failed", 412, "The animal has been changed since it was read.");

/** A form whose sending fails. */
function useExample() {
  return useCallForm({
    initial: { name: "" },
    send: () => Promise.reject(refusal("category_exists", 409, "There is a category of this name.")),
  });
}

/** A button that mounts something over the page. */
function Opened({ label, children }: { label: string; children: (close: () => void) => ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}

type Row = { id: number; name: string; price: string };
const rows: Row[] = [
  { id: 1, name: "Rex", price: "€450.00" },
  { id: 2, name: "Luna", price: "€90.00" },
];

/** Each component of web/parts once, by its name. */
export const examples: Record<string, ComponentType> = {
  Ago: () => <Ago at={new Date(Date.now() - 300_000).toISOString()} />,
  Ask: () => <Opened label="Ask">{(close) => <Ask question={question} onStay={close} onLeave={close} />}</Opened>,
  Badge: () => (
    <Group>
      <Badge tone="good">Available</Badge>
      <Badge tone="busy">Pending</Badge>
      <Badge tone="bad">Expired</Badge>
      <Badge tone="plain">Sold</Badge>
      <Badge tone="quiet">Cancelled</Badge>
    </Group>
  ),
  CallForm: () => {
    const form = useExample();
    return (
      <CallForm form={form} submit="Create category">
        <TextInput label="Name" {...form.text("name")} />
      </CallForm>
    );
  },
  ConfirmDialog: () => (
    <Opened label="Delete Rex">
      {(close) => (
        <ConfirmDialog title="Delete Rex?" action="Delete the animal" onConfirm={() => Promise.resolve()} onDone={nothing} onClose={close}>
          The animal and its photos are lost.
        </ConfirmDialog>
      )}
    </Opened>
  ),
  ContactLink: () => <ContactLink field="email" text="visitor@example.com" />,
  Dialog: () => (
    <Opened label="Open">
      {(close) => (
        <Dialog title="A dialog" onClose={close}>
          Its content.
        </Dialog>
      )}
    </Opened>
  ),
  DropZone: () => (
    <DropZone title="Drop a file here" onDrop={nothing}>
      <Button>Choose a file</Button>
    </DropZone>
  ),
  EmptyState: () => (
    <EmptyState title="No animals yet" text="Add the first one, or import a file.">
      <Button>New animal</Button>
    </EmptyState>
  ),
  ErrorPanel: () => <ErrorPanel error={refusal("unavailable", 503, "The service is busy. Try again in a moment.")} onRetry={nothing} />,
  Filters: () => (
    <Filters search={<SearchField label="Search" placeholder="Name or number" value="" onChange={nothing} />} onClear={nothing}>
      <TextInput label="Category" />
    </Filters>
  ),
  FormError: () => {
    const form = useExample();
    return (
      <Group>
        <Button variant="default" onClick={form.submit}>
          Fail
        </Button>
        <FormError form={form} />
      </Group>
    );
  },
  HistoryList: () => (
    <HistoryList
      label="History"
      steps={[
        {
          position: 2,
          title: "Changed",
          at: "2026-11-29T09:00:00Z",
          actor: { type: "member", name: "Ann" },
          changes: ["Price: €450.00 → €400.00"],
        },
        { position: 1, title: "Added", at: "2026-11-28T09:00:00Z", actor: { type: "key", name: null }, changes: [] },
      ]}
    />
  ),
  Moment: () => <Moment at="2026-11-29T09:00:00Z" />,
  // the frame of every page has the list
  NoticeList: () => (
    <Button variant="default" onClick={() => notify("Rex is sold.", { undo: () => Promise.resolve() })}>
      Notify
    </Button>
  ),
  PageGuard: () => <PageGuard question={question}>A page that asks before it is left with unsaved input.</PageGuard>,
  PageHeader: () => <>At the top of this page.</>,
  ReloadIfChanged: () => <ReloadIfChanged error={changed} onReload={nothing} />,
  RowMenu: () => (
    <RowMenu
      of="Rex"
      actions={[
        { label: "Edit", run: nothing },
        { label: "Delete", run: nothing, isDangerous: true },
      ]}
    />
  ),
  RowsTable: () => (
    <RowsTable
      label="Prices"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { id: "name", header: "Name", cell: ({ name }) => name },
        { id: "price", header: "Price", width: "110px", isNumeric: true, cell: ({ price }) => price },
      ]}
    />
  ),
  SaveBar: () => {
    const form = useExample();
    return <SaveBar of="example" form={form} label="Save" said="Not saved" />;
  },
  SearchField: () => <SearchField label="Search" placeholder="Name or number" value="" onChange={nothing} />,
  Secret: () => <Secret label="API key" value="psk_shown_once" />,
  Section: () => (
    <Section title="Photos" lead="The first one is on the card.">
      Content.
    </Section>
  ),
};
