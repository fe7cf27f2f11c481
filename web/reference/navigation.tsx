import { TextInput, VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { SearchIcon } from "../frame/icons.tsx";
import { search } from "../frame/search.ts";
import { texts } from "../texts/texts.ts";
import { MethodBadge, StabilityBadge } from "./badges.tsx";
import { searchTexts, type Group, type Operation } from "./description.ts";
import { guides } from "./guides.ts";
import styles from "./navigation.module.css";

/** The operations by group and tag, or with a filter the matching ones, best first. */
export function Navigation({ groups }: { groups: Group[] }): ReactNode {
  const [filter, setFilter] = useState("");
  const filtering = filter.trim() !== "";
  return (
    <nav aria-label={texts.reference.page} className={styles.navigation}>
      <TextInput
        type="search"
        aria-label={texts.reference.filter}
        placeholder={texts.reference.filter}
        leftSection={<SearchIcon />}
        value={filter}
        onChange={(event) => setFilter(event.currentTarget.value)}
      />
      {filtering ? <Matches groups={groups} filter={filter} /> : <Tree groups={groups} />}
    </nav>
  );
}

function Matches({ groups, filter }: { groups: Group[]; filter: string }): ReactNode {
  const operations = groups.flatMap(({ sections }) => sections.flatMap((section) => section.operations));
  const found = search(
    filter,
    operations.map((operation) => ({ operation, texts: searchTexts(operation) })),
  );
  return (
    <>
      <output className={styles.count}>
        {found.length === 0 ? texts.reference.nothingMatches : texts.reference.matches(found.length)}
      </output>
      <OperationLinks operations={found.map(({ operation }) => operation)} />
    </>
  );
}

function Tree({ groups }: { groups: Group[] }): ReactNode {
  return (
    <>
      <ul className={styles.list}>
        <li>
          <Link to="/reference" activeOptions={{ exact: true }} className={styles.link}>
            {texts.reference.overview}
          </Link>
        </li>
        <li>
          <Link to="/reference/all" className={styles.link}>
            {texts.reference.everything}
          </Link>
        </li>
      </ul>
      <h2 className={styles.group}>{texts.reference.guides}</h2>
      <ul className={styles.list} aria-label={texts.reference.guides}>
        {guides.map(({ name, title }) => (
          <li key={name}>
            <Link to="/reference/guides/$name" params={{ name }} className={styles.link}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
      {groups.map((group) => (
        <div key={group.name}>
          <h2 className={styles.group}>{group.name}</h2>
          <ul className={styles.list} aria-label={group.name}>
            {group.sections.map(({ tag, operations }) => (
              <li key={tag}>
                <h3 className={styles.tag}>{tag}</h3>
                <OperationLinks label={tag} operations={operations} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

function OperationLinks({ label, operations }: { label?: string; operations: Operation[] }): ReactNode {
  return (
    <ul className={styles.list} aria-label={label}>
      {operations.map((operation) => (
        <li key={operation.id}>
          <Link to="/reference/$operationId" params={{ operationId: operation.id }} className={styles.link}>
            <span className={operation.deprecation ? styles.struck : styles.name}>{operation.summary}</span>
            {operation.stability && <StabilityBadge stability={operation.stability} />}
            {operation.deprecation && <VisuallyHidden>{texts.reference.deprecated}</VisuallyHidden>}
            <MethodBadge method={operation.method} />
          </Link>
        </li>
      ))}
    </ul>
  );
}
