import { after } from "node:test";

const graceMs = 60_000;

/*
 * Loaded before each file of a run. A file whose process goes on after its last test has not let go of something: that is a
 * failure, where the run would otherwise stand still. Only the processes of files have a context.
 */
if (process.env["NODE_TEST_CONTEXT"] !== undefined) {
  after(() => {
    const end = (): void => {
      console.error("still open after the last test:", process.getActiveResourcesInfo());
      process.exit(1);
    };
    setTimeout(end, graceMs).unref();
  });
}
