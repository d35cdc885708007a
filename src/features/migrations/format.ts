import type { ObjectFormat } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import type { Remote } from '../../git/model.ts'
import { reasonOf } from '../mirrors/failure.ts'

/** How long the request waits for the other server. */
const PATIENCE_MS = 5000

/**
 * The object format of another repository: that of a new one is chosen when it is made. Of one that cannot be asked now the usual one;
 * the job that fetches reports what is wrong.
 */
export async function detectFormat({ git, config }: Context, remote: Remote): Promise<ObjectFormat> {
  if (!git.objectFormats.includes('sha256')) return 'sha1'
  const timeoutMs = Math.min(PATIENCE_MS, config.gitTimeoutSeconds * 1000)
  try {
    const { refs } = await git.listRemote(remote, { timeoutMs })
    return refs[0]?.sha.length === 64 ? 'sha256' : 'sha1'
  } catch (error) {
    // The reason of our own bugs is not shown.
    if (reasonOf(error) === undefined) throw error
    return 'sha1'
  }
}
