import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { shopTexts as words } from "../texts/en-shop.ts";
import { texts } from "../texts/texts.ts";
import { ProjectFrame } from "./project-frame.tsx";
import styles from "./projects.module.css";
import { rereadSite, type Site } from "./queries.ts";
import { ShopLogo } from "./shop-logo.tsx";
import { publishShop, shopValues, type ShopValues } from "./shop.ts";
import { shopQuery } from "./storefront.ts";

const ShopForm = lazy(() => import("./shop-form.tsx"));

/** `/dashboard/projects/$projectId/shop`: publishes the built-in shop with one button, and changes how it looks. */
export function ShopPage(): ReactNode {
  return <ProjectFrame part={texts.projects.shop}>{(site) => <Shop site={site} />}</ProjectFrame>;
}

function Shop({ site }: { site: Site }): ReactNode {
  const { id, name, deploymentId } = site.project.value;
  const [isOpen, setOpen] = useState(false);
  const { data, error, refetch } = useQuery(shopQuery(id, deploymentId));
  if (data === undefined) return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Waiting lines={12} />;
  const values = shopValues(name, data.settings);
  return (
    <Section title={words.title} lead={words.lead}>
      {data.settings === null ? (
        <FirstPublication projectId={id} values={values} hasStartPage={data.startPage} />
      ) : (
        <>
          <ShopLogo projectId={id} settings={data.settings} logo={data.logo} />
          {/* The key is the form's saved values: a new logo, which makes a new deployment too, does not reset typed text. */}
          <Suspense fallback={<Waiting lines={6} />}>
            <ShopForm
              key={JSON.stringify(values)}
              projectId={id}
              deploymentId={deploymentId}
              initial={values}
              preview={{ isOpen, setOpen }}
            />
          </Suspense>
        </>
      )}
    </Section>
  );
}

type FirstProps = { projectId: number; values: ShopValues; hasStartPage: boolean };

/** The button that publishes the shop. It asks first if the shop would replace the owner's start page. */
function FirstPublication({ projectId, values, hasStartPage }: FirstProps): ReactNode {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const onSuccess = (): void => {
    notify(words.published);
    void rereadSite(client, projectId);
  };
  const publish = useMutation({ mutationFn: () => publishShop(projectId, values), onSuccess });
  return (
    <>
      <ErrorPanel error={publish.error} />
      <Button loading={publish.isPending} onClick={() => (hasStartPage ? setAsked(true) : publish.mutate())}>
        {words.publish}
      </Button>
      <p className={styles.below}>
        <Link className={styles.siteLink} to="/dashboard/projects/$projectId/versions" params={{ projectId: String(projectId) }}>
          {words.upload}
        </Link>
      </p>
      {isAsked && (
        <ConfirmDialog
          title={words.replaceTitle}
          action={words.publish}
          isSafe
          onConfirm={() => publishShop(projectId, values, { replacesStartPage: true })}
          onDone={onSuccess}
          onClose={() => setAsked(false)}
        >
          {words.replaceText}
        </ConfirmDialog>
      )}
    </>
  );
}
