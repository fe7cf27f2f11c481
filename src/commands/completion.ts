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
      ...bashFunction(commands),
      "complete -o default -F _petstore petstore",
    ].join("\n"),
  zsh: (commands) =>
    [
      "#compdef petstore",
      "# Completion of petstore for zsh: source <(petstore completion zsh)",
      "autoload -U +X bashcompinit && bashcompinit",
      ...bashFunction(commands),
      "complete -o default -F _petstore petstore",
    ].join("\n"),
  fish: (commands) =>
    [
      "# Completion of petstore for fish: petstore completion fish | source",
      "complete -c petstore -f",
      ...firstWords(commands).map((word) => `complete -c petstore -n __fish_use_subcommand -a ${word}`),
      ...commands.flatMap((command) => fishLines(command, commands)),
    ].join("\n"),
};

/** The words that complete a line, by the words before: first commands, then second words, then options and their values. */
function bashFunction(commands: Command[]): string[] {
  const second = firstWords(commands).map((word) => [word, secondWords(commands, word)] as const);
  const cases = [
    `    "") words=${quoted([...firstWords(commands), "help", "--help", "--version"])} ;;`,
    ...second.filter(([, words]) => words.length > 0).map(([word, words]) => `    ${quoted([word])}) words=${quoted(words)} ;;`),
    ...commands.map(
      (command) => `    ${quoted([command.name])}|${quoted([`${command.name} `])}*) words=${quoted(completions(command))} ;;`,
    ),
  ];
  const values = new Map(
    commands.flatMap((command) => enumerated(command).map(([option, words]) => [`${command.name} ${option}`, words] as const)),
  );
  const valueCases = Array.from(values, ([at, words]) => `    ${quoted([at])}) words=${quoted(words)} ;;`);
  return [
    "_petstore() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words="" line="" command=""',
    '  line="${COMP_WORDS[*]:1:COMP_CWORD-1}"',
    '  case "$line" in',
    ...cases,
    "  esac",
    '  command="${COMP_WORDS[1]}"',
    '  case "$command $previous" in',
    ...valueCases.filter((line) => !/^ {4}'\S+ \S+ --/.test(line)),
    "  esac",
    '  command="$command ${COMP_WORDS[2]}"',
    '  case "$command $previous" in',
    ...valueCases.filter((line) => /^ {4}'\S+ \S+ --/.test(line)),
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
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
    const value = option.value === undefined ? "" : ` -r${isEnumerated(option) ? ` -a '${option.value?.split("|").join(" ")}'` : ""}`;
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
