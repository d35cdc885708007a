import type { Config } from '../config.ts'
import { checkDatabase } from './database.ts'
import type { Finding } from './finding.ts'
import { checkFolder, checkGit, checkSigningKey, checkSpace, checkSsh } from './machine.ts'
import { checkMail } from './mail.ts'
import { checkObjects } from './objects.ts'

/** All findings, faults or not, in the order in which they should be repaired. */
export async function examine(config: Config): Promise<Finding[]> {
  const findings = [
    checkFolder('DATA_DIR', config.dataDir),
    checkFolder('REPOSITORIES_DIR', config.repositoriesDir),
    await checkObjects(config),
    checkSpace(config.repositoriesDir),
    await checkGit(config),
    checkSigningKey(config),
    checkSsh(config),
  ]
  return [...findings, ...(await checkDatabase(config)), await checkMail(config)]
}
