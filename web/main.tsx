import { Refusal } from "./calls/refusal.ts";
import { createQueryClient, mount } from "./frame/mount.tsx";
import { createAppRouter, loadFirstView } from "./router.tsx";

/** Retries a failed read once, because the service may be restarting, but not one that the service refused (4xx). */
const queryClient = createQueryClient((error) => !(error instanceof Refusal && error.status >= 400 && error.status < 500));
const router = createAppRouter(queryClient);
void mount(router, queryClient, () => loadFirstView(router, queryClient));
