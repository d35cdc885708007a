import { openDatabase } from '../../db/client.ts'
import { migrate } from '../../db/migrate.ts'
import { loadProcessConfig } from '../config.ts'
import { isServed } from '../jobs/look.ts'
import { adoptKey, countSealedRows, type SealedRows } from '../secret-key/adopt-key.ts'
import { loadNewSecrets } from '../secret-key/instance-key.ts'
import { openStorage } from '../storage.ts'
import type { Command } from './arguments.ts'

const adopt: Command = {
  name: 'key adopt',
  summary: 'Takes another secret key, where the one of this database is lost.',
  details: `What was sealed with the lost key cannot be read by anybody. It is cleared: second factors with their recovery codes, the secrets,
headers and hidden parts of the addresses of hooks, credentials of mirrors, the client secrets of providers that people sign in by, the keys that sign OpenID Connect tokens, and mails that wait. Hooks that lose
something are switched off. Accounts, passwords, access tokens, SSH keys and repositories stay as they are.

The new key is SECRET_KEY, or the file secret.key in DATA_DIR, which is made if it is missing. Stop all servers first, and look for the
old key in backups before: then nothing is lost. Without --yes it says what would be lost, changes nothing, and the exit status is 1.`,
  options: { yes: { description: 'Clears what cannot be read, and records the new key.' } },
  async run(input) {
    const config = loadProcessConfig()
    await using resources = new AsyncDisposableStack()
    const url = await openStorage(config, resources)
    await migrate(url)
    const { db, sql } = resources.adopt(openDatabase(url, { poolSize: 2 }), (database) => database.close())
    if (!input.has('yes')) {
      process.stdout.write(
        `${describe(await countSealedRows(db), 'would be')}\nNothing is changed. To do it, say --yes.\n`,
      )
      return 1
    }
    if (await isServed(sql)) {
      process.stderr.write(
        'A server works on this database, with the key that is to be given up. Stop all servers first.\n',
      )
      return 1
    }
    const secrets = await loadNewSecrets(db, config)
    process.stdout.write(`${describe(await adoptKey(db, secrets.fingerprint), 'are')}\nThe new key is recorded.\n`)
    return 0
  },
}

function describe(rows: SealedRows, verb: string): string {
  return `${rows.secondFactors} second factors ${verb} removed: the password alone opens these accounts until they are set up again.
${rows.hooks} hooks ${verb} switched off and without their secrets: give them these again, and switch them on.
${rows.mirrors} mirrors and migrations ${verb} stopped and without their credentials: set them up again.
${rows.signingKeys} keys for OpenID Connect tokens ${verb} removed: a new one is made at need.
${rows.authSources} providers that people sign in by ${verb} switched off: give them their secrets again with "auth-source edit".
${rows.actionsSecrets} secrets of Actions ${verb} deleted: give them again. Logs of jobs that run now end here.
${rows.registrationTokens} registration tokens of runners ${verb} deleted: new ones are made at need, and runners stay.
${rows.mails} waiting mails ${verb} dropped.`
}

export const keyCommands: readonly Command[] = [adopt]
