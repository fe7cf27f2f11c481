import { Button, Group, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode, type SubmitEvent } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { rereadList } from "../calls/rows.ts";
import { answerOf, store, type Schemas } from "../calls/store.ts";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import styles from "./projects.module.css";
import { deleteProject, type Site } from "./queries.ts";

const words = texts.projects.deleting;
const namedMax = 10;

/** Lists the consequences of deleting a project, and deletes it once its name is typed. */
export function DeleteProjectDialog({ site: { project, deployments }, onClose }: { site: Site; onClose: () => void }): ReactNode {
  const { id, name, slug } = project.value;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const isSame = typed.trim() === name.trim();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteProject(id),
    onSuccess: () => {
      notify(words.done(name));
      void rereadList(client, "/projects");
    },
  });
  async function leave(): Promise<void> {
    await navigate({ to: "/dashboard/projects" });
    client.removeQueries({ queryKey: [dashboardKey, "/projects", "site", id] });
  }
  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    if (isSame && !isPending) mutate(undefined, { onSuccess: () => void leave() });
  }
  return (
    <Dialog title={words.ask(name)} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <ErrorPanel error={error} />
        <p>{words.stops}</p>
        <ul className={styles.stops}>
          <li>{words.address(slug)}</li>
          <DomainsItem projectId={id} />
          <li>{words.deployments(formatNumber(deployments.length), deployments.length === 1)}</li>
        </ul>
        <TextInput
          label={words.type(name)}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <Group justify="flex-end" gap="xs" mt="lg">
          <Button variant="default" onClick={onClose}>
            {texts.dashboard.cancel}
          </Button>
          <Button className={isSame ? styles.danger : undefined} type="submit" disabled={!isSame} loading={isPending}>
            {words.action}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}

function DomainsItem({ projectId }: { projectId: number }): ReactNode {
  const { data: domains = [] } = useQuery({
    queryKey: [dashboardKey, "/projects", "names", projectId],
    staleTime: 0,
    queryFn: ({ signal }) =>
      answerOf<Schemas["Domain"][]>(
        store.GET("/projects/{projectId}/domains", { params: { path: { projectId }, query: { limit: 100 } }, signal }),
      ),
  });
  if (domains.length === 0) return null;
  const names = domains.slice(0, namedMax).map(({ hostname }) => hostname);
  const more =
    domains.length > namedMax ? [words.moreDomains(`${formatNumber(domains.length - namedMax)}${domains.length === 100 ? "+" : ""}`)] : [];
  return <li>{words.domains([...names, ...more].join(", "))}</li>;
}
