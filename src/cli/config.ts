import { allowed, type Config, describeVariables, isSecret, loadProcessConfig, type Variable } from '../config.ts'
import type { Command } from './arguments.ts'

export const configCommand: Command = {
  name: 'config',
  summary: 'Prints every setting: its variable, its value now, and what it is for.',
  details: 'A wrong setting is named with what is allowed, and the exit status is 78.',
  options: {
    markdown: { description: 'Prints the table of docs/configuration.md: variable, default, allowed values, meaning.' },
  },
  async run(input) {
    process.stdout.write(input.has('markdown') ? configMarkdown() : configValues(loadProcessConfig()))
    return 0
  },
}

/** The table of docs/configuration.md. A test compares the two. */
export function configMarkdown(): string {
  const rows = describeVariables().map(
    (variable) =>
      `| \`${variable.name}\` | ${defaultOf(variable)} | ${allowed(variable.schema)} | ${variable.schema.description} |`,
  )
  return `| Variable | Default | Allowed | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

function defaultOf({ schema }: Variable): string {
  const value: unknown = schema.shownDefault ?? schema.default
  return value === undefined || (Array.isArray(value) && value.length === 0) ? '' : `\`${String(value)}\``
}

function configValues(config: Config): string {
  const values = new Map<string, unknown>(Object.entries(config))
  const lines = describeVariables().map(({ name, field, schema }) => {
    const value = values.get(field)
    const shown = value !== undefined && isSecret(name) ? '(hidden)' : (value ?? '')
    return `# ${schema.description}\n${name}=${String(shown)}\n`
  })
  return lines.join('\n')
}
