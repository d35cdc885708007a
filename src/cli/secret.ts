import { openDatabase } from '../../db/client.ts'
import { migrate } from '../../db/migrate.ts'
import { ConfigError, loadProcessConfig } from '../config.ts'
import { progressLine } from '../doctor/progress-line.ts'
import { countOthers } from '../jobs/look.ts'
import { programName } from '../kernel/program-name.ts'
import { openSecrets } from '../secret-key/instance-key.ts'
import { type KeyConfig, keyFile, previousKeyFile, previousSourceOf, sourceOf } from '../secret-key/key-sources.ts'
import { recordRotation, renewKey, resealAll } from '../secret-key/rotate.ts'
import type { Resealed } from '../secret-key/sealed-values.ts'
import { openStorage } from '../storage.ts'
import type { Command } from './arguments.ts'

const rotate: Command = {
  name: 'secret rotate',
  summary: 'Seals all stored secrets anew with another secret key, while the servers run.',
  details: `With SECRET_KEY: set it to a new key, and SECRET_KEY_PREVIOUS to the one before. Start all servers with both, then run this.
Several replicas are first started with the old key as SECRET_KEY and the new one as SECRET_KEY_PREVIOUS, and then with both swapped.

Without SECRET_KEY: run this. It puts a new key into secret.key in DATA_DIR, and keeps the one before as secret.key.previous. Where a
server runs, restart it and run this again.

It may be stopped at any time, and run again. At its end nothing is left that needs the previous key, and it says that this one may go.
The exit status is 1 where something has to be done first, or where neither key opens a value.`,
  async run() {
    const config = loadProcessConfig()
    await using resources = new AsyncDisposableStack()
    const url = await openStorage(config, resources)
    await migrate(url)
    const { db, sql } = resources.adopt(openDatabase(url, { poolSize: 2 }), (database) => database.close())
    await openSecrets(db, config)
    if (await renewKey(db, config))
      say(`${keyFile(config)} holds a new key, and ${previousKeyFile(config)} the one before.`)
    // With the new key, where one was made.
    const secrets = await openSecrets(db, config)
    if (secrets.previousFingerprint === undefined) throw nothingPrevious()
    const isAlone = async () => {
      const others = await countOthers(sql, secrets.fingerprint)
      if (others > 0) process.stderr.write(`${othersFirst(config, others)}\n`)
      return others === 0
    }
    if (!(await isAlone())) return 1
    const found = await resealAll(db, secrets, progressLine())
    if (!(await isAlone())) return 1
    if (!(await recordRotation(db, secrets, found))) throw new Error('another key was recorded meanwhile')
    say(describe(config, found))
    return found.unreadable === 0 ? 0 : 1
  },
}

const say = (text: string) => process.stdout.write(`${text}\n`)

const nothingPrevious = () =>
  new ConfigError(
    'SECRET_KEY_PREVIOUS is not set: there is no key to rotate from',
    'set SECRET_KEY to a new key, such as "openssl rand -hex 32" makes, and SECRET_KEY_PREVIOUS to what SECRET_KEY is now',
  )

const othersFirst = (config: KeyConfig, others: number): string =>
  `${others} ${others === 1 ? 'server works' : 'servers work'} on this database with another key than the one in ${sourceOf(config)}. Restart ${others === 1 ? 'it' : 'them'} with this key and the previous one, then run "${programName} secret rotate" again.`

function describe(config: KeyConfig, { sealed, resealed, unreadable }: Resealed): string {
  const damaged =
    unreadable === 0
      ? ''
      : `\n${unreadable} of them cannot be opened with either key, and are as they were: set these second factors and hooks up again.`
  return `${resealed} stored secrets are sealed anew. All ${sealed} have been looked at, and none needs the previous key.${damaged}
The key in ${sourceOf(config)} is the key of this database: keep a copy of it beside the backups.
${previousSourceOf(config)} may go, from all servers. Keep a copy of it with the backups that were made until now.`
}

export const secretCommands: readonly Command[] = [rotate]
