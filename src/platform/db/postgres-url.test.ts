import assert from "node:assert/strict";
import { test } from "node:test";
import { NotAllowed } from "../parse.ts";
import { connectMsOf, postgresUrl, serverOf, targetOf, urlsOf } from "./postgres-url.ts";

test("a URL names one server or several, each with its port, and all with the same user, database and parameters", () => {
  const login = "shop:p@ss,w%2Frd";
  assert.deepEqual(urlsOf(`postgres://${login}@one,[::1]:5433,three.example:6000/db?sslmode=require`), [
    `postgres://${login}@one/db?sslmode=require`,
    `postgres://${login}@[::1]:5433/db?sslmode=require`,
    `postgres://${login}@three.example:6000/db?sslmode=require`,
  ]);
  for (const one of ["postgres://one", "postgresql://u:a,b@one:5432/db", "postgres://[::1]/db"]) {
    assert.deepEqual(urlsOf(one), [one]);
    assert.equal(postgresUrl(one), one);
  }
});

test("a URL that the service cannot use is refused", () => {
  for (const rest of [
    "one/db?target_session_attrs=standby",
    "one,two/db?target_session_attrs=read-only",
    "one,two/db?target_session_attrs=prefer-standby",
    "one,two/db?target_session_attrs=",
    "one/db?connect_timeout=0",
    "one/db?connect_timeout=soon",
    "one,/db",
    ",one/db",
    "one,,two/db",
    "one/db?host=one,two",
    "/db?host=",
    "/db",
    ":5432/db?host=/run/postgresql",
    "one/db?sslmode=maybe",
    "one/db?sslrootcert=/nowhere",
    `${Array.from({ length: 17 }, (_, i) => `h${i}`).join(",")}/db`,
  ]) {
    assert.throws(() => postgresUrl(`postgres://u:p@${rest}`), NotAllowed, rest);
  }
});

test("a URL names the folder of a socket, and a + in it is a plus sign", () => {
  const url = "postgres://shop@/a+b?host=/run/postgresql&port=5433&password=c+d e";
  assert.equal(postgresUrl(url), url);
  assert.deepEqual(urlsOf(url), ["postgres://shop@localhost/a+b?host=/run/postgresql&port=5433&password=c%2Bd%20e"]);
  assert.equal(serverOf(url), "/run/postgresql:5433/a+b");
  assert.equal(serverOf("postgres:///db?host=/run/postgresql"), "/run/postgresql/db");
});

test("without target_session_attrs, several servers are searched for one that takes writes, and a single one is used as it is", () => {
  assert.deepEqual(
    ["one", "one,two", "one?target_session_attrs=primary", "one,two?target_session_attrs=any", "one,two?target_session_attrs=primary"].map(
      (rest) => targetOf(`postgres://${rest}`),
    ),
    ["any", "read-write", "primary", "read-write", "primary"],
  );
  assert.deepEqual([connectMsOf("postgres://one,two?connect_timeout=3"), connectMsOf("postgres://one")], [3_000, undefined]);
});

test("messages name the servers and the database, without user and password", () => {
  assert.equal(serverOf("postgres://u:p@one:1,two/db?sslmode=require"), "one:1,two/db");
  assert.equal(serverOf("postgres://u:p@[::1]:1/db"), "[::1]:1/db");
});
