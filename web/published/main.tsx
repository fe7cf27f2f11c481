import { createQueryClient, mount } from "../frame/mount.tsx";
import { descriptionQuery } from "../reference/load.ts";
import { createPublishedRouter } from "./router.tsx";

const queryClient = createQueryClient(() => true);
void queryClient.prefetchQuery(descriptionQuery);
void mount(createPublishedRouter(), queryClient);
