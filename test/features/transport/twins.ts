import { join } from 'node:path'
import type { DataFault } from '../../../src/features/admin/data/check.ts'
import { checkData } from '../../../src/features/admin/data/data.ts'
import type { TestService } from '../../harness/service.ts'
import { type Replica, startReplica } from './replica.ts'

/** A replica with a DATA_DIR of its own: what replicas share is the database and the repositories. */
export const startTwin = (service: TestService, name: string, settings: Record<string, string>): Promise<Replica> =>
  startReplica(service, {
    ...settings,
    DATA_DIR: join(service.folder, name),
    REPOSITORIES_DIR: service.context.config.repositoriesDir,
  })

/** What `hearth doctor --data` finds, in the order in which it is found; with `mends` it mends what it can. */
export async function findFaults({ context }: Pick<TestService, 'context'>, mends = false): Promise<DataFault[]> {
  const faults: DataFault[] = []
  await checkData({
    context,
    mends,
    looksAtObjects: true,
    signal: new AbortController().signal,
    found: (fault) => void faults.push(fault),
    progress: () => undefined,
  })
  return faults
}
