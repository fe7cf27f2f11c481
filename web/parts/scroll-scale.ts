/** Firefox limits an element's height to about 17.8 million px, Chromium to 33.5 million; this leaves room in both. */
const scrolledPxMax = 10_000_000;
/** A list is scrolled pixel by pixel this close to its ends, so that each row there can be reached. */
const endPxMax = 200_000;

/** Maps positions in a list of `listPx` to positions that can be scrolled to. If the list fits, they are the same. */
export type ScrollScale = { scrolledPx: number; toList: (scrolled: number) => number; toScrolled: (inList: number) => number };

export function scrollScale(listPx: number): ScrollScale {
  const scrolledPx = Math.min(listPx, scrolledPxMax);
  const endPx = Math.min(endPxMax, scrolledPx / 4);
  const factor = scrolledPx === 0 ? 1 : (listPx - 2 * endPx) / (scrolledPx - 2 * endPx);
  return {
    scrolledPx,
    toList: (scrolled) => {
      if (scrolled <= endPx) return scrolled;
      if (scrolled >= scrolledPx - endPx) return listPx - (scrolledPx - scrolled);
      return endPx + (scrolled - endPx) * factor;
    },
    toScrolled: (inList) => {
      if (inList <= endPx) return inList;
      if (inList >= listPx - endPx) return scrolledPx - (listPx - inList);
      return endPx + (inList - endPx) / factor;
    },
  };
}
