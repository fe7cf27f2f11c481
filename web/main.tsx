import { Refusal } from "./calls/refusal.ts";
import { createQueryClient, mount } from "./frame/mount.tsx";
import { createAppRouter, loadFirstView } from "./router.tsx";

/** A refusal is final; a service that is restarting gets one retry. */
const queryClient = createQueryClient((error) => !(error instanceof Refusal && error.status >= 400 && error.status < 500));
const router = createAppRouter(queryClient);
void mount(router, queryClient, () => loadFirstView(router, queryClient));
