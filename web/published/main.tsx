import "@fontsource-variable/inter";
import "@mantine/core/styles.css";
import "@mantine/spotlight/styles.css";
import "../frame/theme.css";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { theme, variables } from "../frame/theme.ts";
import { descriptionQuery } from "../reference/load.ts";
import { createPublishedRouter } from "./router.tsx";

const queryClient = new QueryClient({ defaultOptions: { queries: { retry: 1, refetchOnWindowFocus: false } } });
void queryClient.prefetchQuery(descriptionQuery);
const router = createPublishedRouter();
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
