import type { Config } from '../config.ts'
import { messageOf } from '../kernel/thrown.ts'
import { createLog } from '../log.ts'
import { openObjectStore, storeRemedy } from '../object-store/open.ts'
import type { Finding } from './finding.ts'
import { checkFolder } from './machine.ts'

/** Whether a large file can be stored, read and removed. */
export async function checkObjects(config: Config): Promise<Finding> {
  if (config.objectStorage === 'disk') {
    const folder = checkFolder('OBJECTS_DIR', config.objectsDir)
    if (folder.remedy !== undefined) return folder
  }
  const subject = 'Object storage'
  const place = config.objectStorage === 'disk' ? config.objectsDir : `bucket ${config.s3Bucket}`
  try {
    await openObjectStore(config, createLog({ ...config, logLevel: 'silent' })).check()
    return { subject, detail: `${place} takes files and gives them back` }
  } catch (error) {
    return { subject, detail: `${place}: ${messageOf(error)}`, remedy: storeRemedy(config) }
  }
}
