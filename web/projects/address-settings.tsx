import { Switch } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, type ReactNode } from "react";
import { useSession } from "../dashboard/session.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import { addressStateOf, sendsHsts, type AddressState } from "./address-state.ts";
import styles from "./projects.module.css";
import { showProject, switchProject, type Project, type ProjectSwitches } from "./queries.ts";
import { SiteLink } from "./site-link.tsx";

const words = texts.projects.addresses;

/** The project's address for visitors, and the settings for its other names (specification 5.9). */
export function AddressSettings({ project }: { project: Project }): ReactNode {
  const { plan } = useSession().account;
  const state = addressStateOf(project, plan);
  const noEffect = state === "inEffect" ? undefined : words.noPrimary[state](project.domains.primary ?? "");
  const noHsts = plan === "free" ? words.noHsts : sendsHsts(project.url) ? undefined : words.otherPorts;
  return (
    <Section title={words.title}>
      <p className={styles.address}>
        {words.current} <SiteLink url={project.url} />
      </p>
      <p className={styles.hint}>
        <AddressHint project={project} state={state} />
      </p>
      <Setting name="redirectToPrimary" project={project} noEffect={noEffect} canAlwaysTurnOff />
      <Setting name="hsts" project={project} noEffect={noHsts} />
    </Section>
  );
}

function AddressHint({ project: { id, domains }, state }: { project: Project; state: AddressState }): ReactNode {
  if (state === "noDomains") return words.noDomains;
  if (state === "waiting") return words.waiting(domains.primary ?? "");
  return (
    <>
      {state === "inEffect" ? words.isPrimary : words.isPlatform}{" "}
      <Link to="/dashboard/projects/$projectId/domains" params={{ projectId: String(id) }}>
        {words.toDomains}
      </Link>
    </>
  );
}

type SettingProps = {
  name: keyof ProjectSwitches;
  project: Project;
  /** Why the setting has no effect now; undefined if it has an effect. */
  noEffect: string | undefined;
  /** Whether the switch can be turned off while it has no effect. */
  canAlwaysTurnOff?: boolean;
};

/** A switch that saves at once. */
function Setting({ name, project, noEffect, canAlwaysTurnOff = false }: SettingProps): ReactNode {
  const client = useQueryClient();
  const about = useId();
  const { mutate, isPending, variables, error } = useMutation({
    mutationFn: (isOn: boolean) => switchProject(project.id, { [name]: isOn }),
    onSuccess: (changed) => {
      notify(texts.projects.naming.saved);
      showProject(client, changed);
    },
  });
  const isOn = isPending ? variables : project[name];
  return (
    <div className={styles.setting}>
      <Switch
        label={words.switches[name].label}
        withThumbIndicator={false}
        checked={isOn}
        disabled={noEffect !== undefined && !(canAlwaysTurnOff && isOn)}
        aria-describedby={about}
        onChange={({ currentTarget }) => !isPending && mutate(currentTarget.checked)}
      />
      <div id={about} className={styles.settingText}>
        <p className={styles.hint}>{words.switches[name].about}</p>
        {noEffect !== undefined && <p className={styles.noEffect}>{noEffect}</p>}
      </div>
      <ErrorPanel error={error} />
    </div>
  );
}
