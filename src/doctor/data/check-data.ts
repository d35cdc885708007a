import { LOCK_SECONDS } from '../../features/refs/repair.ts'
import { isServed } from '../../jobs/look.ts'
import { checkArtifacts } from './artifacts.ts'
import { checkAttachments } from './attachments.ts'
import type { DataCheck } from './check.ts'
import { checkHalfBuilt, checkStrays, surveyFolders } from './folders.ts'
import { checkLfsObjects } from './lfs.ts'
import { checkRepositories } from './repositories.ts'
import { checkCounters, checkJobs, checkSequences, checkUnfinished } from './rows.ts'

/**
 * Compares everything that is stored: folders with rows, refs with rows, numbers with what they count. May run beside servers that work:
 * what they are in the middle of is no fault. Folders first, since what is repaired there changes rows.
 */
export async function checkData(check: DataCheck): Promise<{ repositories: number; folders: number }> {
  await checkUnfinished(check)
  const survey = await surveyFolders(check)
  // Without a server nobody holds a lock: those of a restored copy, which may be of this minute, would refuse the first push.
  const lockSeconds = (await isServed(check.context.sql)) ? LOCK_SECONDS : 0
  const repositories = await checkRepositories(check, { ...survey, lockSeconds })
  await checkStrays(check, survey)
  await checkHalfBuilt(check)
  await checkAttachments(check)
  await checkArtifacts(check)
  await checkLfsObjects(check)
  await checkCounters(check)
  await checkSequences(check)
  await checkJobs(check)
  return { repositories, folders: survey.folders }
}
