import { useRef, useState, type PointerEvent, type RefObject } from "react";

type Drag = {
  list: RefObject<HTMLUListElement | null>;
  /** The place that the dragged entry is over; undefined while none is dragged. */
  over: number | undefined;
  handlersOf: (index: number) => {
    onPointerDown: (event: PointerEvent) => void;
    onPointerMove: (event: PointerEvent) => void;
    onPointerUp: (event: PointerEvent) => void;
    onLostPointerCapture: () => void;
  };
};

/**
 * Drags an entry of a list to another's place. A mouse drags it anywhere, a finger only at its `data-grip`: elsewhere a finger scrolls.
 * A drop outside the list moves nothing.
 */
export function useDrag(onMove: (from: number, to: number) => void): Drag {
  const list = useRef<HTMLUListElement>(null);
  const [over, setOver] = useState<number>();
  const handlersOf: Drag["handlersOf"] = (index) => ({
    onPointerDown: (event) => {
      if (event.button !== 0 || (event.pointerType !== "mouse" && !isGrip(event.target))) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      setOver(index);
    },
    onPointerMove: (event) => {
      if (over !== undefined) setOver(placeAt(list.current, event) ?? index);
    },
    onPointerUp: (event) => {
      if (over !== undefined) onMove(index, placeAt(list.current, event) ?? index);
    },
    onLostPointerCapture: () => setOver(undefined),
  });
  return { list, over, handlersOf };
}

function isGrip(target: EventTarget): boolean {
  return target instanceof Element && target.closest("[data-grip]") !== null;
}

function placeAt(list: HTMLUListElement | null, { clientX: x, clientY: y }: PointerEvent): number | undefined {
  const place = [...(list?.children ?? [])].findIndex((entry) => {
    const { left, right, top, bottom } = entry.getBoundingClientRect();
    return left <= x && x <= right && top <= y && y <= bottom;
  });
  return place < 0 ? undefined : place;
}
