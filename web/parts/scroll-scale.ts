/** No element may be higher than about 17.8 million px in Firefox and 33.5 million in Chromium; this leaves room for both. */
const scrolledPxMax = 10_000_000;
/** Near its ends a list is scrolled as it is, so that both can be reached row by row. */
const endPxMax = 200_000;

/** How the rows of a list, `listPx` high, are laid on what can be scrolled. Where all of them fit, as they are. */
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
