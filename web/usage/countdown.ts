import { useSyncExternalStore } from "react";
import { serverNow } from "../calls/server-clock.ts";

const listeners = new Set<() => void>();
let seconds = wholeSeconds();
let timer: ReturnType<typeof setInterval> | undefined;

/** Returns the service's time in ms, rounded down to a second. A component that calls it renders again every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, secondsNow) * 1_000;
}

/** While nothing subscribes, the timer is off and `seconds` is old. */
function secondsNow(): number {
  if (timer === undefined) seconds = wholeSeconds();
  return seconds;
}

function wholeSeconds(): number {
  return Math.floor(serverNow() / 1_000);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  seconds = wholeSeconds();
  for (const listener of listeners) listener();
}

/** Formats a remaining time in ms as `4 s`, `2:05` or `13:04:09`; less than a second counts as none. */
export function durationText(ms: number): string | undefined {
  const left = Math.ceil(ms / 1_000);
  if (left <= 0) return undefined;
  if (left < 60) return `${left} s`;
  const [hours, minutes, rest] = [Math.floor(left / 3_600), Math.floor(left / 60) % 60, left % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
