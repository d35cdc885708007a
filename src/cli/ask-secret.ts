import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { UsageError } from './arguments.ts'

/** One line that is typed at the terminal and not shown there. @throws UsageError for an end of input or Ctrl-C in its place */
export async function askSecret(prompt: string): Promise<string> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  // From here on the terminal shows no key by itself. The line editor would, at its output.
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true })
  try {
    process.stderr.write(prompt)
    for await (const line of lines) return line
    throw new UsageError('no secret was given')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
