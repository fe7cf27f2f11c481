import { commonOptions, UsageError, type Command, type Option } from "./command.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** Creates the command `completion`, which knows the commands that `all` returns. */
export function completing(all: () => Command[]): Command {
  return {
    name: "completion",
    summary: "Print a script that completes commands and options in a shell",
    operands: ["bash|zsh|fish"],
    async run({ operands: [name = ""] }) {
      const shell = shells.find((known) => known === name);
      if (shell === undefined) throw new UsageError(`${JSON.stringify(name)} is not one of ${shells.join(", ")}`);
      const script = scripts[shell](all());
      return { json: { shell, script }, text: script };
    },
  };
}

const scripts: Record<Shell, (commands: Command[]) => string> = {
  bash: (commands) =>
    [
      "# Completion of petstore for bash: source <(petstore completion bash)",
      "_petstore() {",
      '  local line="${COMP_WORDS[*]:1:COMP_CWORD-1}" current="${COMP_WORDS[COMP_CWORD]}" offered=""',
      ...offeredCases(commands),
      '  COMPREPLY=($(compgen -W "$offered" -- "$current"))',
      "}",
      "complete -o default -F _petstore petstore",
    ].join("\n"),
  zsh: (commands) =>
    [
      "#compdef petstore",
      "# Completion of petstore for zsh: source <(petstore completion zsh)",
      "_petstore() {",
      '  local line="${(j: :)words[2,CURRENT-1]}" offered=""',
      ...offeredCases(commands),
      "  compadd -- ${=offered} || _files",
      "}",
      "# zsh runs a file of its fpath as the function, and one that is sourced has to declare it",
      'if [[ "${funcstack[1]}" == _petstore ]]; then _petstore; else compdef _petstore petstore; fi',
    ].join("\n"),
  fish: (commands) =>
    [
      "# Completion of petstore for fish: petstore completion fish | source",
      "complete -c petstore -f",
      ...firstWords(commands).map((word) => `complete -c petstore -n __fish_use_subcommand -a ${word}`),
      ...commands.flatMap((command) => fishLines(command, commands)),
    ].join("\n"),
};

/**
 * Sets `offered` to the words that complete a `line`: first commands, then second words, then values of an option or options. For bash and
 * zsh, which take the first case that fits.
 */
function offeredCases(commands: Command[]): string[] {
  const seconds = firstWords(commands).map((word) => [word, secondWords(commands, word)] as const);
  const values = commands.flatMap((command) => enumerated(command).map(([option, words]) => [command.name, option, words] as const));
  const caseOf = (pattern: string, words: string[]): string => `    ${pattern}) offered=${quoted(words)} ;;`;
  return [
    '  case "$line" in',
    caseOf('""', [...firstWords(commands), "help", "--help", "--version"]),
    ...seconds.filter(([, words]) => words.length > 0).map(([word, words]) => caseOf(word, words)),
    ...values.map(([name, option, words]) => caseOf(`'${name} ${option}'|'${name} '*' ${option}'`, words)),
    ...commands.map((command) => caseOf(`'${command.name}'|'${command.name} '*`, completions(command))),
    "  esac",
  ];
}

function fishLines(command: Command, commands: Command[]): string[] {
  const [first = "", second] = command.name.split(" ");
  const seen = `__fish_seen_subcommand_from ${first}`;
  const at = second === undefined ? seen : `${seen}; and __fish_seen_subcommand_from ${second}`;
  const word =
    second === undefined
      ? []
      : [`complete -c petstore -n '${seen}; and not __fish_seen_subcommand_from ${secondWords(commands, first).join(" ")}' -a ${second}`];
  const options = Object.entries({ ...command.options, ...commonOptions }).map(([name, option]: [string, Option]) => {
    const value = option.value === undefined ? "" : isEnumerated(option) ? ` -x -a ${quoted(option.value?.split("|") ?? [])}` : " -r";
    return `complete -c petstore -n '${at}' -l ${name}${value}`;
  });
  const operands = completions(command).filter((one) => !one.startsWith("-"));
  const files = (command.operands ?? []).some((operand) => /FILE|DIR/.test(operand)) ? [`complete -c petstore -n '${at}' -F`] : [];
  return [...word, ...operands.map((one) => `complete -c petstore -n '${at}' -a ${one}`), ...files, ...options];
}

function firstWords(commands: Command[]): string[] {
  return [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))];
}

function secondWords(commands: Command[], first: string): string[] {
  return commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
}

/** The options of a command, and the values of an operand that has a few. */
function completions({ options = {}, operands = [] }: Command): string[] {
  const listed = operands.filter((operand) => /^[a-z]+(\|[a-z]+)+$/.test(operand)).flatMap((operand) => operand.split("|"));
  return [...listed, ...Object.keys({ ...options, ...commonOptions }).map((name) => `--${name}`)];
}

function enumerated({ options = {} }: Command): [option: string, values: string[]][] {
  return Object.entries(options).flatMap(([name, option]): [string, string[]][] =>
    isEnumerated(option) ? [[`--${name}`, option.value?.split("|") ?? []]] : [],
  );
}

function isEnumerated({ value }: Option): boolean {
  return value !== undefined && /^[a-z0-9]+(\|[a-z0-9]+)+$/.test(value);
}

function quoted(words: string[]): string {
  return `'${words.join(" ")}'`;
}
