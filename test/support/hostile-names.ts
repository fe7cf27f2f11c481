const words = `
  . .. - * _ , a..b .www.alpha.test www..alpha.test www.alpha.test.. *.alpha.test null undefined
  localhost localhost. localhost:80 sites.test www.sites.test x.alpha.sites.test petstore.localhost localdomain
  127.0.0.1 127.1 2130706433 0x7f000001 0.0.0.0 192.0.2.1. [::1] [::1]:80 ::1 [::ffff:127.0.0.1] [ []:80
  alpha test com co.uk github.io www.alpha.test:99999 www.alpha.test:-1 www.alpha.test:80:80 www.alpha.test:x
  www.alpha.test/ www.alpha.test?x www.alpha.test# user@www.alpha.test www.beta.test@www.alpha.test http://www.alpha.test
  www.alpha.test,www.beta.test xn-- xn--a.test www.%61lpha.test www.alpha%2etest -a.alpha.test a-.alpha.test a--b--c.-.test
  ../../etc/passwd __proto__ constructor toString www.alpha.test\\ '-- <script> \${7*7} %00 %ff _acme.alpha.test`;

/** Names that nobody has, and texts that are no host name, for an edge that serves `www.alpha.test`. */
export const hostileNames: string[] = [
  "",
  " ",
  ...words.trim().split(/\s+/),
  "www.alpha.test www.beta.test",
  "\u0001",
  "www.alpha.test\u0000",
  "www.alpha.test\u0000.evil.test",
  "\ud800.test",
  `${"a".repeat(64)}.test`,
  `${"a.".repeat(126)}aa`,
  "a".repeat(254),
  "a".repeat(7_000),
  "a.".repeat(3_500),
];

/** Names that resemble `www.alpha.test` or are next to it, and must be distinguished from it. */
export const lookalikes = [
  "alpha.test",
  "www.alpha.test.evil.test",
  "evilwww.alpha.test",
  "www.alpha.testevil",
  "wwwalpha.test",
  "www.www.alpha.test",
  "www.аlpha.test", // the Cyrillic letter
];
