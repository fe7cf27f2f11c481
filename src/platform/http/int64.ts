const max = 2n ** 63n - 1n;
const min = -(2n ** 63n);
/** The largest number below 2^63. */
const maxNumber = 2 ** 63 - 1_024;

/**
 * An integer of int64 as a number; undefined beyond int64. Up to 2^53, where identifiers are, it is exact; above, it
 * never rounds out of int64.
 */
export function int64Number(exact: bigint): number | undefined {
  return exact < min || exact > max ? undefined : Math.min(Number(exact), maxNumber);
}
