import { Button, Table } from "@mantine/core";
import type { ReactNode } from "react";
import type { Animal } from "../../src/importing/animals.ts";
import { StatusBadge } from "../pets/status-badge.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { download } from "./download.ts";
import styles from "./importing.module.css";
import type { Counts, Rejects } from "./tasks.ts";

const words = texts.importing;
const shown = ["rows", "created", "updated", "unchanged", "superseded", "rejected"] as const;

/** The counts of a planned or finished import. */
export function CountList({ counts }: { counts: Counts }): ReactNode {
  return (
    <dl className={styles.counts}>
      {shown.map((name) => (
        <div key={name} className={styles.count} data-warns={name === "rejected" && counts.rejected > 0}>
          <dt>{words.counts[name]}</dt>
          <dd>{formatNumber(counts[name])}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The first animals that the mapping produces. */
export function AnimalPreview({ animals }: { animals: readonly Animal[] }): ReactNode {
  return (
    <Scrolled label={words.firstAnimals}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.id}</Table.Th>
          <Table.Th>{words.name}</Table.Th>
          <Table.Th>{words.category}</Table.Th>
          <Table.Th>{words.status}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {animals.map(({ sourceId, name, category, status }) => (
          <Table.Tr key={sourceId}>
            <Table.Td>{sourceId}</Table.Td>
            <Table.Td>{name}</Table.Td>
            <Table.Td>{category}</Table.Td>
            <Table.Td>
              <StatusBadge status={status} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Scrolled>
  );
}

/** The rejected rows with the reasons; the download has all of them. */
export function RejectList({ rejects: { first, file }, total, of }: { rejects: Rejects; total: number; of: string }): ReactNode {
  if (file === undefined) return null;
  return (
    <section aria-label={words.rejects(formatNumber(total))} className={styles.rejects}>
      <h3 className={styles.heading}>{words.rejects(formatNumber(total))}</h3>
      <p className={styles.hint}>
        {words.rejectsHint} {total > first.length && words.shownRejects(formatNumber(first.length))}
      </p>
      <Button variant="default" mb="sm" onClick={() => download(file, `${of.replace(/\.csv$/i, "")}-rejects.csv`)}>
        {words.downloadRejects}
      </Button>
      <Scrolled label={words.firstRejects}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={80}>{words.line}</Table.Th>
            <Table.Th>{words.reason}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {first.map(({ line, reason }) => (
            <Table.Tr key={line}>
              <Table.Td>{formatNumber(line)}</Table.Td>
              <Table.Td>{reason}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Scrolled>
    </section>
  );
}

function Scrolled({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    // What scrolls must be reachable by keyboard, and named (WCAG 2.2, 2.1.1).
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <section className={styles.scrolled} tabIndex={0} aria-label={label}>
      <Table striped>{children}</Table>
    </section>
  );
}
