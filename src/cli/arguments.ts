import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { describeVariables, isSecret } from '../config.ts'
import { programName } from '../kernel/program-name.ts'
import { errorCode, messageOf } from '../kernel/thrown.ts'

/** A command was called wrongly. The message says how; the exit status is 64 (EX_USAGE of sysexits.h). */
export class UsageError extends Error {
  readonly exitCode = 64
}

/** One word of the command line: `migrate`, or `user create` with the parent `user`. */
export interface Command {
  /** Words after the program's name, such as `user create`. */
  name: string
  /** One line for the list of commands. */
  summary: string
  /** What `--help` says between the summary and the options. */
  details?: string
  /** Names of what must follow the command, in order. */
  operands?: readonly string[]
  options?: Readonly<Record<string, CommandOption>>
  /** Returns the exit status. */
  run(input: CommandInput): Promise<number>
}

export interface CommandOption {
  /** In the help, such as NAME; without it the option is a switch. */
  value?: string
  description: string
}

export interface CommandInput {
  operands: string[]
  /** The text of an option with a value. */
  text(name: string): string | undefined
  /** Whether a switch is given. */
  has(name: string): boolean
}

/** Checks the words after the command's name against what it takes. */
export function readInput(command: Command, words: string[]): CommandInput {
  const { values, positionals } = parse(command, words)
  const wanted = command.operands ?? []
  if (positionals.length !== wanted.length) {
    const expected = wanted.length === 0 ? 'nothing' : wanted.join(' ')
    throw new UsageError(`"${command.name}" takes ${expected} after it, not "${positionals.join(' ')}"`)
  }
  return {
    operands: positionals,
    has: (name) => values[name] === true,
    text(name) {
      const value = values[name]
      return typeof value === 'string' ? value : undefined
    },
  }
}

function parse(command: Command, words: string[]) {
  const options: ParseArgsOptionsConfig = {}
  for (const [name, { value }] of Object.entries(command.options ?? {}))
    options[name] = { type: value === undefined ? 'boolean' : 'string' }
  try {
    return parseArgs({ args: words, options, allowPositionals: true, strict: true })
  } catch (error) {
    const unknown = /^Unknown option '(-[^']+)'/.exec(messageOf(error))?.[1]
    if (errorCode(error) !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || unknown === undefined)
      throw new UsageError(messageOf(error))
    throw new UsageError(`there is no option ${unknown}; ${insteadOf(unknown, command, words)}`)
  }
}

/** Many programs take as options what are settings here. */
function insteadOf(option: string, { name }: Command, words: readonly string[]): string {
  const variable = option.replace(/^-+/, '').replaceAll('-', '_').toUpperCase()
  if (!describeVariables().some((known) => known.name === variable)) return `"${programName} ${name} --help" lists them`
  const place = words.findIndex((word) => word === option || word.startsWith(`${option}=`))
  const given = words[place]?.split('=')[1] ?? words[place + 1] ?? '...'
  const value = isSecret(variable) || !/^[\w.:/-]+$/.test(given) ? '...' : given
  return `it is a setting: ${variable}=${value} ${programName} ${name}`
}

/** The whole help of one command. */
export function commandHelp(command: Command): string {
  const operands = (command.operands ?? []).map((name) => ` ${name}`).join('')
  const options = Object.entries(command.options ?? {})
  const rows = options.map(([name, { value, description }]): [string, string] => [
    `--${name}${value === undefined ? '' : ` ${value}`}`,
    description,
  ])
  rows.push(['--help', 'Shows this text.'])
  const details = command.details === undefined ? '' : `\n${command.details}\n`
  return `Usage: ${programName} ${command.name}${operands}${options.length > 0 ? ' [options]' : ''}

${command.summary}
${details}
Options:
${columns(rows)}
`
}

/** Two columns, the second of them aligned. */
export function columns(rows: readonly [string, string][]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}
