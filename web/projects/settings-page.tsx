import { Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { rereadList } from "../calls/rows.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { notify } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { ReloadIfChanged } from "../parts/reload-if-changed.tsx";
import { texts } from "../texts/texts.ts";
import { AddressSettings } from "./address-settings.tsx";
import { DeleteProjectDialog } from "./delete-project-dialog.tsx";
import { ProjectFrame } from "./project-frame.tsx";
import styles from "./projects.module.css";
import { rereadSite, siteQuery, updateProject, type Site } from "./queries.ts";

const words = texts.projects;

/** `/dashboard/projects/$projectId/settings`: name, addresses, and deleting the project. */
export function SettingsPage(): ReactNode {
  return (
    <ProjectFrame part={texts.projects.settings}>
      {(site) => (
        <>
          <Naming project={site.project} />
          <AddressSettings project={site.project.value} />
          <Deleting site={site} />
        </>
      )}
    </ProjectFrame>
  );
}

/** Keeps typed text when the project is reread; "Reload" resets the form to the current project. */
function Naming({ project }: Pick<Site, "project">): ReactNode {
  const client = useQueryClient();
  const [begun, setBegun] = useState(project);
  async function reload(): Promise<void> {
    await rereadSite(client, project.value.id);
    const site = client.getQueryData(siteQuery(project.value.id).queryKey);
    if (site) setBegun(site.project);
  }
  const { name, slug } = project.value;
  // A change of another setting or of the primary domain does not conflict with this form.
  const isSame = name === begun.value.name && slug === begun.value.slug;
  return <NamingForm key={begun.etag} project={isSame ? project : begun} onSaved={setBegun} onReload={() => void reload()} />;
}

type FormProps = Pick<Site, "project"> & { onSaved: (project: Site["project"]) => void; onReload: () => void };

function NamingForm({ project, onSaved, onReload }: FormProps): ReactNode {
  const client = useQueryClient();
  const { name, slug } = project.value;
  const form = useCallForm({
    initial: { name, slug },
    send: (values) => updateProject(project, values),
    onDone: (saved) => {
      notify(words.naming.saved);
      onSaved(saved);
      void rereadList(client, "/projects");
    },
  });
  return (
    <Section title={words.naming.title} lead={words.naming.lead}>
      <div className={styles.form}>
        <CallForm form={form} submit={words.naming.save}>
          <ReloadIfChanged error={form.error} onReload={onReload} />
          <TextInput label={words.name} description={words.nameHint} required {...form.text("name")} />
          <TextInput
            mt="sm"
            label={words.slug}
            description={words.slugHint}
            required
            autoCapitalize="none"
            spellCheck={false}
            {...form.text("slug")}
          />
        </CallForm>
      </div>
    </Section>
  );
}

function Deleting({ site }: { site: Site }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  return (
    <Section title={words.deleting.title} lead={words.deleting.lead}>
      <Button className={styles.danger} onClick={() => setAsked(true)}>
        {words.deleting.action}
      </Button>
      {isAsked && <DeleteProjectDialog site={site} onClose={() => setAsked(false)} />}
    </Section>
  );
}
