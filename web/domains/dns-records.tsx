import { ActionIcon, CopyButton, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import type { ProofRecord } from "../calls/refusal.ts";
import { CheckIcon, CopyIcon } from "../frame/icons.tsx";
import { domainsTexts } from "../texts/en-domains.ts";
import { texts } from "../texts/texts.ts";
import fieldStyles from "./dns-records.module.css";
import styles from "./domains.module.css";
import { RegistrarWords } from "./registrar-words.tsx";
import { relativeTo, zoneOf, type Domain } from "./state.ts";

const words = domainsTexts.record;

/** The DNS records to create at the registrar, with a copy button for each field (specification 5.2). */
export function DnsRecords({ domain, isToCreate }: { domain: Domain; isToCreate: boolean }): ReactNode {
  const { hostname, kind, record, challenge } = domain;
  const zone = zoneOf(domain);
  const isApex = kind === "apex";
  return (
    <div className={styles.records}>
      <h4 className={styles.title}>{isToCreate ? titleOf(domain) : words.shown}</h4>
      {isToCreate && <p className={styles.hint}>{isApex ? `${words.apex} ${words.apexElse(hostname)}` : words.exact}</p>}
      <Fields
        type={record.type}
        typeName={isApex ? words.typeOrAname : words.type}
        name={record.name}
        fullName={hostname}
        value={record.value}
        ttl={record.ttl}
      />
      {challenge && (
        <>
          <p className={styles.hint}>{words.proofToo}</p>
          <Fields
            type={challenge.type}
            name={relativeTo(zone, challenge.name)}
            fullName={challenge.name}
            value={challenge.value}
            ttl={record.ttl}
          />
        </>
      )}
      {isToCreate && <RegistrarWords kind={kind} />}
    </div>
  );
}

/** The TXT record that proves who owns a domain that another account uses. */
export function ProofRecordFields({ record: { type, name, value } }: { record: ProofRecord }): ReactNode {
  return (
    <div className={styles.records}>
      <h3 className={styles.title}>{words.proofTitle}</h3>
      <p className={styles.hint}>{words.proof}</p>
      <Fields type={type} name={name} fullName={name} value={value} ttl={proofTtl} />
    </div>
  );
}

const proofTtl = 3_600;

function titleOf({ status, challenge }: Domain): string {
  if (challenge) return words.titleMany;
  return status === "failing" ? words.needed : words.title;
}

type FieldsProps = { type: string; typeName?: string; name: string; fullName: string; value: string; ttl: number };

function Fields({ type, typeName = words.type, name, fullName, value, ttl }: FieldsProps): ReactNode {
  return (
    <section aria-label={words.label(type, fullName)}>
      <dl className={fieldStyles.fields}>
        <Field name={typeName} value={type} />
        <Field name={words.name} value={name} />
        <Field name={words.value} value={value} />
        <Field name={words.ttl} value={String(ttl)} />
      </dl>
      {fullName !== name && <p className={fieldStyles.fullName}>{words.fullName(fullName)}</p>}
    </section>
  );
}

function Field({ name, value }: { name: string; value: string }): ReactNode {
  return (
    <div className={fieldStyles.field}>
      <dt>{name}</dt>
      <dd>
        <span className={styles.mono}>{value}</span>
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <Tooltip label={copied ? texts.copied : texts.copy}>
              <ActionIcon
                className={fieldStyles.copy}
                variant="subtle"
                color={copied ? "pine" : "gray"}
                c={copied ? undefined : "dimmed"}
                aria-label={copied ? texts.copied : words.copy(name)}
                onClick={copy}
              >
                {copied ? <CheckIcon /> : <CopyIcon />}
              </ActionIcon>
            </Tooltip>
          )}
        </CopyButton>
      </dd>
    </div>
  );
}
