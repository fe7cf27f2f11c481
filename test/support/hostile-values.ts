/*
 * Values that have broken services before, sent as a JSON value, a body, an id, a parameter or a header. Lists whose values
 * have no spaces are written as text.
 */

const strings = String.raw`"" "\u0000" "\ud800" "\udc00\ud800" "Rex" "available" "SOLD" "1" "%00" "\u00e9" "\u202e\ufeff" "now"`;
const numbers = "0 -0 1 2 -1 1.5 1e2 1e400 -1e400 1e-400 2147483647 2147483648 9007199254740991 9007199254740993 9223372036854775807";
const dates = `"2026-12-24T10:00:00Z" "2026-02-30T10:00:00Z" "0000-01-01T00:00:00+23:59" "9999-12-31T23:59:60-23:59"`;
const objects = `[] {} [[]] null true [{"name":"Rex","categoryId":1}] {"__proto__":{"name":"Rex"}} {"toString":1} {"$ref":"#"}`;
/** JSON texts that our schemas refuse, or barely accept. */
export const jsonValues = [
  ...`${strings} ${numbers} ${dates} ${objects} 9223372036854775808 -9223372036854775809`.split(" "),
  '" "',
  "1".repeat(400),
  `"${"x".repeat(201)}"`,
  `"${"🐕".repeat(200)}"`,
  `"${"ﷺ".repeat(200)}"`,
  nested("[", "]", 5_000),
  nested('{"a":', "}", 5_000),
];
export const memberNames = String.raw`__proto__ constructor prototype toString hasOwnProperty id NAME \u0000 a/b~c $ref é`
  .split(" ")
  .concat("", "name ");

export const texts = [
  ...`{ } [ " nul undefined NaN {]} {'name':'Rex'} {"name":"Rex",} //no \ufeff{} \u0000 {}{}`.split(" "),
  "",
  "\t\n",
  "1 2",
  nested("[", "]", 200_000),
  nested('{"a":', "}", 100_000),
  "[".repeat(1_000_000),
  `{"name":"${"x".repeat(1_048_576)}"}`,
  `[${'{"name":"Rex","categoryId":1},'.repeat(1_000)}{"name":"Rex","categoryId":1}]`,
  `${nested("[", "]", 50_000)}9223372036854775807`,
];
/** Not UTF-8, or gzip. */
export const byteTexts = ["fffe", "c080", "eda080", "f4908080", "22e28222", "1f8b080000"].map((hex) => Buffer.from(hex, "hex"));

const numericIds = "0 -0 -1 1 2 3 01 +1 1e3 1.0 0x1 1n 9007199254740991 9007199254740993 9223372036854775807 9223372036854775808";
const encodedIds = "%201 %31 %30%31 1%00 1%0a % %zz %2 %2F %252F %c0%80 %ff %ed%a0%80 %2e%2e ..%2f..";
const otherIds = "batch * . .. null NaN Infinity __proto__ constructor {petId} 1;a=b 1,2 １ é 1/ 1// //";
export const pathIds = [
  ...`${numericIds} ${encodedIds} ${otherIds} -9223372036854775808 -9223372036854775809`.split(" "),
  "",
  " 1",
  "9".repeat(100),
  "9".repeat(20_000),
];

export const queryValues = [
  ..."0 1 -1 101 100 1e1 01 9223372036854775807 9223372036854775808 true TRUE null [] a%26b + %00 %zz % %ff %f0%9f%90%95".split(" "),
  ..."available Sold name -name id __proto__ W10 W251bGxd eyJhIjoxfQ é".split(" "),
  "",
  "x".repeat(3_000),
];
export const queryNames = "__proto__ constructor id[] id[0] limit[a] Limit %zz %00 a.b cursor limit toString".split(" ").concat("");

export const headerNames = "If-Match If-None-Match Idempotency-Key X-Forwarded-For X-Request-Id Origin Range Cookie __proto__ Expect".split(
  " ",
);
export const headerValues = [
  '* "v1" W/"v1" " , ,,, 1 null __proto__ \xff \x80\x81'.split(" "),
  "",
  '"v1", "v2"',
  "x".repeat(256),
  "x".repeat(5_000),
].flat();
export const accepts = [
  "*/* text/html application/*;q=0 application/json;q=abc application/json;q=0.0001 ;;; \xff/\xff".split(" "),
  ["", "a/b,".repeat(500)],
].flat();
export const contentTypes = [
  "application/json application/merge-patch+json application/json;charset=utf-8 APPLICATION/JSON application/json;charset=utf-16".split(
    " ",
  ),
  "text/plain multipart/form-data;boundary=a application/x-www-form-urlencoded ; \xe9".split(" "),
  ["", "application/json;".repeat(100)],
].flat();
const tokens = `a\xff null psk_ x psk_${"a".repeat(36)} psk_${"a".repeat(5_000)} psp_${"0".repeat(36)}`.split(" ");
export const credentials = [
  "Bearer",
  "Bearer ",
  "Basic dXNlcjpwYXNz",
  "Digest a=b",
  "Bearer a b",
  "psk_x",
  ...tokens.map((token) => `Bearer ${token}`),
];

function nested(open: string, close: string, depth: number): string {
  return open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth);
}
