import type { QueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { Refusal } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";
import { begin, type Failed, type Results, type Task, type Told } from "./tasks.ts";

/** The progress and result of a task. `waitMs` is set while the service asks for a pause. */
export type TaskState<Result> = {
  isRunning: boolean;
  isStopped: boolean;
  done: number;
  /** Undefined until known. */
  total: number | undefined;
  waitMs: number | undefined;
  result: Result | undefined;
  failed: Failed | undefined;
};

const idle = { isRunning: false, isStopped: false, done: 0, total: undefined, waitMs: undefined, result: undefined, failed: undefined };

/** Runs tasks of one kind, one at a time: a new task, `stop` and leaving the page end the current one. Keeps the last result. */
export function useTask<Kind extends Task["kind"]>() {
  const [state, setState] = useState<TaskState<Results[Kind]>>(idle);
  const endTask = useRef<() => void>(undefined);

  const end = useCallback(() => {
    endTask.current?.();
    endTask.current = undefined;
  }, []);
  useEffect(() => end, [end]);

  const start = useCallback(
    (task: Extract<Task, { kind: Kind }>) => {
      end();
      setState(({ result }) => ({ ...idle, isRunning: true, result }));
      const over = (outcome: Partial<TaskState<Results[Kind]>>) => {
        end();
        setState((before) => ({ ...before, isRunning: false, waitMs: undefined, ...outcome }));
      };
      const hear = (told: Told) => {
        if (told.kind === "done") over({ result: told.result as Results[Kind] });
        else if (told.kind === "failed") over({ failed: told.failed, result: undefined });
        else if (told.kind === "waiting") setState((before) => ({ ...before, waitMs: told.ms }));
        else setState((before) => ({ ...before, done: told.done, total: told.total, waitMs: undefined }));
      };
      endTask.current = begin(task, hear, texts.importing.workerFailed());
    },
    [end],
  );
  const stop = useCallback(() => {
    end();
    setState((before) => ({ ...before, isRunning: false, isStopped: true, waitMs: undefined }));
  }, [end]);
  return { state, start, stop };
}

/** A worker's failure as a Refusal, which the page can show. */
export function refusalOfTask({ code, message, status, requestId }: Failed): Refusal {
  return new Refusal(code, message, { status, requestId });
}

/** Drops what is in memory of the lists, so that they are read again after an import. */
export function forgetLists(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey], predicate: ({ queryKey }) => String(queryKey[1]).startsWith("/") });
}
