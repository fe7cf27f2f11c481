import { createContext, type ReactNode } from "react";
import type { Operation } from "../description.ts";
import type { Made } from "./key.ts";

export type KeyOfferProps = Pick<Operation, "scopes"> & { onMade: (key: string, made: Made) => void };

/** Renders a button that makes a key with these scopes. A published reference is on another host, and renders none. */
export const KeyOfferContext = createContext<(props: KeyOfferProps) => ReactNode>(() => null);
