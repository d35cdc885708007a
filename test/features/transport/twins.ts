import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataProblem } from '../../../src/doctor/data/check.ts'
import { checkData } from '../../../src/doctor/data/check-data.ts'
import { keyFile } from '../../../src/secret-key/key-sources.ts'
import type { TestService } from '../../harness/service.ts'
import { type Replica, startReplica } from './replica.ts'

/** A replica with a DATA_DIR of its own: what replicas share is the database and the repositories. */
export const startTwin = (service: TestService, name: string, settings: Record<string, string>): Promise<Replica> =>
  startReplica(service, {
    ...settings,
    DATA_DIR: join(service.folder, name),
    SECRET_KEY: settings.SECRET_KEY ?? readFileSync(keyFile(service.context.config), 'utf8').trim(),
    REPOSITORIES_DIR: service.context.config.repositoriesDir,
  })

/** What `hearth doctor --data` finds, in the order in which it is found; with `isRepairing` it repairs what it can. */
export async function findFaults(
  { context }: Pick<TestService, 'context'>,
  isRepairing = false,
): Promise<DataProblem[]> {
  const faults: DataProblem[] = []
  await checkData({
    context,
    isRepairing,
    looksAtObjects: true,
    signal: new AbortController().signal,
    found: (fault) => void faults.push(fault),
    progress: () => undefined,
  })
  return faults
}
