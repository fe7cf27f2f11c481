import type { QueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { Refusal } from "../calls/refusal.ts";
import { importTexts } from "../texts/en-import-file.ts";
import { startTask, type Failed, type Results, type Task, type WorkerMessage } from "./tasks.ts";

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

/** Runs tasks of one kind, one at a time. A new task, `stop` or leaving the page ends the current task. Keeps the last result. */
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
      const finish = (outcome: Partial<TaskState<Results[Kind]>>) => {
        end();
        setState((before) => ({ ...before, isRunning: false, waitMs: undefined, ...outcome }));
      };
      const onMessage = (message: WorkerMessage) => {
        if (message.kind === "done") finish({ result: message.result as Results[Kind] });
        else if (message.kind === "failed") finish({ failed: message.failed, result: undefined });
        else if (message.kind === "waiting") setState((before) => ({ ...before, waitMs: message.ms }));
        else setState((before) => ({ ...before, done: message.done, total: message.total, waitMs: undefined }));
      };
      endTask.current = startTask(task, onMessage, importTexts.workerFailed());
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

/** Drops the cached lists, so that they are reread after an import. */
export function dropLists(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey], predicate: ({ queryKey }) => String(queryKey[1]).startsWith("/") });
}
