import { useRef, type ReactNode } from "react";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { notify } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import { removeDomain } from "./queries.ts";
import type { Domain } from "./state.ts";

const words = texts.domains;
type Props = {
  domain: Domain;
  domains: readonly Domain[];
  /** `warning` is what is left to do at the registrar. */
  onRemoved: (warning: string | undefined) => void;
  onClose: () => void;
};

/** Asks before a domain is removed, and says what stops with it (specification, part 1, rule 11). */
export function RemoveDomainDialog({ domain: removed, domains, onRemoved, onClose }: Props): ReactNode {
  const warning = useRef<string>(undefined);
  const { hostname, primary } = removed;
  const redirecting = domains.filter(({ redirect }) => redirect?.to === hostname);
  return (
    <ConfirmDialog
      title={words.removeTitle(hostname)}
      action={words.remove}
      onConfirm={async () => {
        warning.current = await removeDomain(removed);
      }}
      onDone={() => {
        notify(words.removed(hostname));
        onRemoved(warning.current);
      }}
      onClose={onClose}
    >
      <p>{words.removeText(hostname)}</p>
      {redirecting.length > 0 && <p>{words.removeRedirects(redirecting.map((domain) => domain.hostname).join(", "))}</p>}
      {primary && <p>{words.removePrimary}</p>}
    </ConfirmDialog>
  );
}
