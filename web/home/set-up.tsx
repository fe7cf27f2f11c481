import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Section } from "../parts/page-header.tsx";
import { petCountsQuery } from "../pets/counts.ts";
import { texts } from "../texts/texts.ts";
import styles from "./home.module.css";
import { domainsQuery, projectsQuery } from "./queries.ts";

const words = texts.home;

type Step = { id: keyof typeof words.steps; isDone: boolean; link: LinkProps };

/** The first steps of a new shop. Each leads to the form that does it; when all are done, the list disappears. */
export function SetUp(): ReactNode {
  const { data: animals } = useQuery(petCountsQuery({}));
  const { data: projects } = useQuery(projectsQuery);
  const { data: domains = [] } = useQuery({ ...domainsQuery(projects ?? []), enabled: projects !== undefined && projects.length > 0 });
  if (!animals || !projects) return null;
  const first = projects[0];
  const params = { projectId: String(first?.id) };
  const newProject: LinkProps = { to: "/dashboard/projects", search: { new: true } };
  const steps: Step[] = [
    { id: "shop", isDone: first !== undefined, link: newProject },
    { id: "animals", isDone: animals.count > 0, link: { to: "/dashboard/animals", search: { new: true } } },
    {
      id: "logo",
      isDone: projects.some(({ deploymentId }) => deploymentId !== null),
      link: first ? { to: "/dashboard/projects/$projectId", params } : newProject,
    },
    {
      id: "domain",
      isDone: domains.length > 0,
      link: first ? { to: "/dashboard/projects/$projectId/domains", params } : newProject,
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  // not every plan has domains: a shop that only lacks one is set up
  if (steps.every(({ id, isDone }) => isDone || id === "domain")) return null;
  return (
    <Section title={words.setUp} lead={words.stepsDone(done, steps.length)}>
      <ol className={styles.list} aria-label={words.setUp}>
        {steps.map(({ id, isDone, link }) => (
          <li key={id} data-done={isDone}>
            <Link {...link}>{words.steps[id]}</Link>
            <span>{isDone ? words.done : words.open}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
