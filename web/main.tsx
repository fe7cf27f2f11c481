import "@fontsource-variable/inter";
import "@mantine/core/styles.css";
import "@mantine/spotlight/styles.css";
import "./frame/theme.css";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Refusal } from "./calls/refusal.ts";
import { theme, variables } from "./frame/theme.ts";
import { createAppRouter } from "./router.tsx";

// A page that was open before an upgrade asks for parts of the old build: the new one is a reload away.
addEventListener("vite:preloadError", () => location.reload());

const queryClient = new QueryClient({ defaultOptions: { queries: { retry: mayComeRight, refetchOnWindowFocus: false } } });
const router = createAppRouter(queryClient);
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

/** A refusal stays one; a service that is restarting gets a second chance. */
function mayComeRight(failures: number, error: Error): boolean {
  return failures < 1 && !(error instanceof Refusal && error.status >= 400 && error.status < 500);
}

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
