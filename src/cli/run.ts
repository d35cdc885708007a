import { MigrationError } from '../../db/migrate.ts'
import { ConfigError } from '../config.ts'
import { Refusal } from '../kernel/errors.ts'
import { programName } from '../kernel/program-name.ts'
import { errorCode, messageOf } from '../kernel/thrown.ts'
import { version } from '../version.ts'
import { type Command, columns, commandHelp, readInput, UsageError } from './arguments.ts'
import { authSourceCommands } from './auth-source.ts'
import { configCommand } from './config.ts'
import { doctorCommand } from './doctor.ts'
import { healthCommand } from './health.ts'
import { keyCommands } from './key.ts'
import { mailCommands } from './mail.ts'
import { migrateCommand } from './migrate.ts'
import { secretCommands } from './secret.ts'
import { serveCommand } from './serve.ts'
import { userCommands } from './user.ts'

const versionCommand: Command = {
  name: 'version',
  summary: 'Prints the version.',
  async run() {
    process.stdout.write(`${version}\n`)
    return 0
  },
}

const commands: readonly Command[] = [
  serveCommand,
  migrateCommand,
  ...userCommands,
  ...authSourceCommands,
  configCommand,
  doctorCommand,
  ...secretCommands,
  ...keyCommands,
  ...mailCommands,
  healthCommand,
  versionCommand,
]

/** Runs one command line and returns the exit status. Without a command the program serves. */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  try {
    if (words[0] === '--help' || words[0] === '-h' || words[0] === 'help') return print(overview())
    if (words[0] === '--version') return await versionCommand.run(readInput(versionCommand, []))
    const group = commandsWithin(words[0])
    if (group.length > 0 && (words[1] === '--help' || words[1] === '-h')) return print(groupHelp(words[0], group))
    const { command, rest } = findCommand(words)
    if (rest.includes('--help') || rest.includes('-h')) return print(commandHelp(command))
    return await command.run(readInput(command, rest))
  } catch (error) {
    return explain(error)
  }
}

/** A command may have two words, such as `user create`. */
function findCommand(words: readonly string[]): { command: Command; rest: string[] } {
  if (words.length === 0 || words[0]?.startsWith('-') === true) return { command: serveCommand, rest: [...words] }
  for (const length of [2, 1]) {
    const command = commands.find(({ name }) => name === words.slice(0, length).join(' '))
    if (command !== undefined) return { command, rest: words.slice(length) }
  }
  const within = commandsWithin(words[0])
  if (within.length > 0) throw new UsageError(`say one of: ${within.map(({ name }) => name).join(', ')}`)
  throw new UsageError(`there is no command "${words[0]}"; "${programName} --help" lists them`)
}

const commandsWithin = (word: string | undefined) => commands.filter(({ name }) => name.startsWith(`${word} `))

function groupHelp(word: string | undefined, group: readonly Command[]): string {
  return `Usage: ${programName} ${word} COMMAND [options]

Commands:
${columns(group.map(({ name, summary }) => [name, summary]))}

"${programName} ${word} COMMAND --help" says more about one of them.
`
}

function overview(): string {
  return `Usage: ${programName} [command] [options]

Hearth ${version}: a self-hosted Git service.

Commands:
${columns(commands.map(({ name, summary }) => [name, summary]))}

"${programName} COMMAND --help" says more about one of them. Settings are environment variables; "${programName} config" lists them.
`
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

/** Faults of whoever called, and of what is outside, are one line each; anything else is ours and shows where it happened. */
function explain(error: unknown): number {
  if (error instanceof ConfigError || error instanceof UsageError) {
    process.stderr.write(`${error.message}\n`)
    return error.exitCode
  }
  const isExpected = error instanceof MigrationError || error instanceof Refusal
  const text = error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : String(error)
  process.stderr.write(`${outsideFault(error) ?? text}\n`)
  return 1
}

const OUTSIDE: Readonly<Record<string, string>> = {
  EACCES: 'This user may not do that.',
  ECONNREFUSED: 'The database does not answer: start it, or correct DATABASE_URL.',
  ENOTFOUND: 'The host of the database is unknown: correct DATABASE_URL.',
  CONNECT_TIMEOUT: 'The database does not answer: start it, or correct DATABASE_URL.',
  '08P01': 'The pooler in front of the database needs another setting: docs/operations.md has it.',
  '28P01': 'The database refuses the password in DATABASE_URL.',
  '3D000': 'The database that DATABASE_URL names does not exist.',
}

function outsideFault(error: unknown): string | undefined {
  const advice = OUTSIDE[errorCode(error) ?? '']
  // Of a name with several addresses, none of which answers, there is no message.
  const said = messageOf(error) || errorCode(error)
  return advice === undefined ? undefined : `${advice} (${said}) "${programName} doctor" looks for more.`
}
