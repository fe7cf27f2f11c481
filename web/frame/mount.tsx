import "@fontsource-variable/inter";
import "@mantine/core/styles.css";
import "./theme.css";
import "./prose.css";
import "./early-text.css";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider, type AnyRouter } from "@tanstack/react-router";
import { startTransition, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { IdleWatch } from "./idle-watch.tsx";
import { theme, variables } from "./theme.ts";

/** Creates the query cache of the pages. `isRetryable` decides whether a failed read is retried once. */
export function createQueryClient(isRetryable: (error: Error) => boolean): QueryClient {
  // a service on this machine or network is reachable even if the browser reports that it is offline
  const networkMode = "always";
  const retry = (failures: number, error: Error) => failures < 1 && isRetryable(error);
  return new QueryClient({ defaultOptions: { queries: { retry, networkMode, refetchOnWindowFocus: false }, mutations: { networkMode } } });
}

/**
 * Renders an application into the page. Text that the server sent with the page stays until the application can replace it.
 *
 * @param readyToShow loads what the first view needs
 */
export async function mount(router: AnyRouter, queryClient: QueryClient, readyToShow?: () => Promise<unknown>): Promise<void> {
  const root = document.getElementById("root");
  if (!root) throw new Error("index.html has no #root");
  if (root.hasChildNodes()) await readyToShow?.().catch(() => undefined); // the application shows the failure
  const application = (
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
          <IdleWatch router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>
  );
  startTransition(() => createRoot(root).render(application)); // rendering in slices keeps the page responsive
}
