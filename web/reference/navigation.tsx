import { TextInput, VisuallyHidden } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { SearchIcon } from "../frame/icons.tsx";
import { search } from "../frame/search.ts";
import { referenceTexts } from "../texts/en-reference.ts";
import { texts } from "../texts/texts.ts";
import { MethodLetters, StabilityBadge, StabilityDot } from "./badges.tsx";
import { searchTexts, type Group, type Operation, type Section } from "./description.ts";
import { guides } from "./guides.ts";
import styles from "./navigation.module.css";

/** The operations by group and tag, or with a filter the matching ones, best first. */
export function Navigation({ groups }: { groups: Group[] }): ReactNode {
  const [filter, setFilter] = useState("");
  const filtering = filter.trim() !== "";
  const { operationId } = useParams({ strict: false });
  const shown = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = operationId === undefined ? null : shown.current?.querySelector("[aria-current=page]");
    // first the resource as far as it fits, then the operation
    for (const part of [current?.closest("details"), current]) part?.scrollIntoView({ block: "nearest" });
  }, [operationId]);
  return (
    <nav ref={shown} aria-label={texts.reference} className={styles.navigation}>
      <TextInput
        type="search"
        aria-label={referenceTexts.filter}
        placeholder={referenceTexts.filter}
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
      <output className={styles.count}>{found.length === 0 ? referenceTexts.nothingMatches : referenceTexts.matches(found.length)}</output>
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
            {referenceTexts.overview}
          </Link>
        </li>
        <li>
          <Link to="/reference/all" className={styles.link}>
            {referenceTexts.everything}
          </Link>
        </li>
      </ul>
      <h2 className={styles.group}>{referenceTexts.guides}</h2>
      <ul className={styles.list} aria-label={referenceTexts.guides}>
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
            {group.sections.map((section) => (
              <li key={section.tag}>
                <Resource section={section} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

/** The operations of a resource, folded unless one of them is open. */
function Resource({ section: { tag, operations, stability } }: { section: Section }): ReactNode {
  const { operationId } = useParams({ strict: false });
  return (
    <details className={styles.resource} open={operations.some(({ id }) => id === operationId)}>
      <summary>
        <h3>{tag}</h3>
        {stability && <StabilityBadge stability={stability} />}
      </summary>
      <OperationLinks label={tag} operations={operations} of={stability} />
    </details>
  );
}

type LinksProps = { label?: string; operations: Operation[]; of?: Operation["stability"] };

/** Links to operations; a stability that `of` their section has is shown there. */
function OperationLinks({ label, operations, of }: LinksProps): ReactNode {
  return (
    <ul className={styles.list} aria-label={label}>
      {operations.map((operation) => (
        <li key={operation.id}>
          <Link to="/reference/$operationId" params={{ operationId: operation.id }} className={styles.link}>
            <MethodLetters method={operation.method} />
            <span className={styles.name}>
              <span className={operation.deprecation && styles.struck}>{operation.summary}</span>
              {operation.deprecation?.successor && <code className={styles.instead}>{operation.deprecation.successor.request}</code>}
            </span>
            {operation.stability && !of && <StabilityDot stability={operation.stability} />}
            {operation.deprecation && <VisuallyHidden>{referenceTexts.deprecated}</VisuallyHidden>}
          </Link>
        </li>
      ))}
    </ul>
  );
}
