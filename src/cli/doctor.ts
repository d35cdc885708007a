import { loadProcessConfig } from '../config.ts'
import { examine } from '../doctor/examine.ts'
import type { Finding } from '../doctor/finding.ts'
import { printData } from '../doctor/print-data.ts'
import { type Command, UsageError } from './arguments.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Looks at everything the program needs and says how to fix what is wrong.',
  details: `Settings, database, clocks, Git, the rights of the data folders, disk space, mail server, and jobs that no runner takes. Changes nothing but what a start
would make too: folders that are missing, and the built-in PostgreSQL when DATABASE_URL is not set.
The exit status is 0 when all is well, 1 when something is wrong, 78 for a wrong setting.

With --data it looks through what is kept instead: that each repository has its whole folder, HEAD and refs as the database says, no
folder is without its repository, no lock or temporary file of a killed process lies about, counters are what they count, and no push,
creation or job is stuck. It may run beside servers that work, brings the tables up to date as a start does, and else changes nothing
unless --repair is given. Run it so after a restore, and after a crash of the machine. The exit status is then 0 when nothing wrong is
left, and 1 else.`,
  options: {
    data: { description: 'Looks through the database and all repositories; progress goes to standard error.' },
    repair: { description: 'With --data: repairs what can be repaired, and says what was done.' },
    quick: { description: 'With --data: leaves out the search for missing objects, which takes most of the time.' },
  },
  async run(input) {
    const [isRepairing, isQuick] = [input.has('repair'), input.has('quick')]
    if (input.has('data')) return printData(loadProcessConfig(), { isRepairing, isQuick })
    if (isRepairing || isQuick) throw new UsageError('--repair and --quick go with --data')
    const findings = await examine(loadProcessConfig())
    for (const finding of findings) process.stdout.write(describe(finding))
    const faults = findings.filter(({ remedy }) => remedy !== undefined).length
    process.stdout.write(
      faults === 0 ? '\nAll is well.\n' : `\n${faults} of ${findings.length} checks found a fault.\n`,
    )
    return faults === 0 ? 0 : 1
  },
}

function describe({ subject, detail, remedy }: Finding): string {
  const line = `${remedy === undefined ? 'ok   ' : 'FAULT'}  ${subject}: ${detail}\n`
  return remedy === undefined ? line : `${line}       To fix it: ${remedy}\n`
}
