import hooks, { type createHook } from "node:async_hooks";

/*
 * Loaded before node:test. It watches every asynchronous resource, to say which test an exception that nothing caught belongs to, and that
 * costs a quarter of the time of a file with many requests: nearly all of it for promises. Without those, such an exception fails the
 * file as before, and sometimes in the name of the file alone.
 */
const original = hooks.createHook;
hooks.createHook = ((callbacks) => original({ trackPromises: false, ...callbacks })) satisfies typeof createHook;
