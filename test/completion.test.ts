import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { commands } from "../src/commands/commands.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";

/** What a person has typed before Tab, and what the shell then offers. */
const offers: [typed: string, offered: string[]][] = [
  ["ke", ["keys"]],
  ["keys ", ["create", "list", "revoke", "rotate", "unban"]],
  ["events ", ["tail", "trigger"]],
  ["events trigger --fo", ["--forward-to"]],
  ["keys create --acc", ["--account"]],
  ["export --format ", ["csv", "ndjson"]],
  ["accounts create --plan f", ["free"]],
  ["accounts create --name Paws --plan b", ["business"]],
  ["domains redirect a.b --st", ["--status"]],
  ["domains redirect a.b --status 307 --o", ["--off"]],
  ["completion z", ["zsh"]],
];

/** Writes the script of a shell into a file. */
async function scriptOf(t: TestContext, shell: string): Promise<string> {
  const { code, out } = await runCommand(["completion", shell], {});
  assert.equal(code, 0);
  const file = join(temporaryFolder(t), `petstore.${shell}`);
  writeFileSync(file, out);
  return file;
}

function outputOf(shell: string, args: string[], script: string): string {
  const { stdout, stderr, error } = spawnSync(shell, [...args, "-c", script], {
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", TERM: "dumb" },
    encoding: "utf8",
    timeout: 60_000,
  });
  assert.deepEqual([stderr, error], ["", undefined]);
  return stdout;
}

const wordsOf = (line: string): string[] => line.split(" ").filter(Boolean).toSorted();

test("bash completes commands, second words, options and their values", async (t) => {
  const file = await scriptOf(t, "bash");
  const calls = offers.map(([typed]) => {
    const words = typed.endsWith(" ") ? `${typed}''` : typed;
    return `COMP_WORDS=(petstore ${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _petstore; echo "\${COMPREPLY[*]}"`;
  });
  const lines = outputOf("bash", ["--norc"], [`source ${file}`, ...calls].join("\n"))
    .trimEnd()
    .split("\n");
  assert.deepEqual(
    lines.map(wordsOf),
    offers.map(([, offered]) => offered),
  );
});

test("zsh completes the same, at a terminal", async (t) => {
  const file = await scriptOf(t, "zsh");
  // `compadd` prints what fits what was typed, in a shell that has a terminal, and adds nothing, so that no line changes
  const prepared = [
    "PROMPT=; autoload -Uz compinit && compinit -u -D",
    `source ${file}`,
    'compadd() { builtin compadd -O fitting "$@"; print -r -- "<<${(j: :)fitting}>>"; true }',
    "print -r -- '<'ready'>'",
  ];
  const asked = offers.flatMap(([typed]) => [
    `zpty -w -n shell $'\\x15petstore ${typed}\\t'`,
    "zpty -r shell heard '*<<*>>*'; print -r -- $heard",
  ]);
  const script = [
    "zmodload zsh/zpty; zpty shell zsh -f -i",
    `zpty -w shell $'${prepared.join("; ").replaceAll("'", "\\'")}'`,
    "zpty -r shell heard '*<ready>*'",
    ...asked,
    "zpty -d shell",
  ];
  const heard = outputOf("zsh", ["-f"], script.join("\n"));
  const found = Array.from(heard.matchAll(/<<([^>$]*)>>/g), ([, words = ""]) => wordsOf(words));
  assert.deepEqual(
    found,
    offers.map(([, offered]) => offered),
  );
});

test("fish completes the same", async (t) => {
  const file = await scriptOf(t, "fish");
  const calls = offers.map(([typed]) => `echo (complete -C "petstore ${typed}")`);
  const lines = outputOf("fish", ["--no-config"], [`source ${file}`, ...calls].join("\n"))
    .trimEnd()
    .split("\n");
  assert.deepEqual(
    lines.map(wordsOf),
    offers.map(([, offered]) => offered),
  );
});

test("each script has every command, and other shells are refused", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { out } = await runCommand(["completion", shell], {});
    for (const { name } of commands) for (const word of name.split(" ")) assert.ok(out.includes(word), `${shell}: ${name}`);
  }
  assert.equal((await runCommand(["completion", "tcsh"], {})).code, 2);
});
