import { asc, eq, gt } from 'drizzle-orm'
import { type LfsObjectRow, lfsObjects, repositoryLfsObjects } from '../../../db/schema/lfs.ts'
import { type DataCheck, settle } from './check.ts'

const PAGE = 500
/** Questions to the store at once. */
const ABREAST = 8
/** Problems that are reported one by one. */
const MAX_FAULTS = 1000

/** Rows of Git LFS whose content the store has lost. */
export async function checkLfsObjects(check: DataCheck): Promise<void> {
  const { db } = check.context
  const lost: LfsObjectRow[] = []
  let [after, looked] = [0, 0]
  while (!check.signal.aborted && lost.length < MAX_FAULTS) {
    const rows = await db
      .select()
      .from(lfsObjects)
      .where(gt(lfsObjects.id, after))
      .orderBy(asc(lfsObjects.id))
      .limit(PAGE)
    for (let at = 0; at < rows.length; at += ABREAST) {
      const some = rows.slice(at, at + ABREAST)
      const isThere = await Promise.all(some.map((row) => isStored(check, row)))
      lost.push(...some.filter((_, index) => !isThere[index]))
    }
    looked += rows.length
    if (rows.length > 0) check.progress(`${looked} objects of Git LFS looked for`)
    after = rows.at(-1)?.id ?? after
    if (rows.length < PAGE) break
  }
  // A wrong folder is reported once, and no row is deleted because of it.
  if (lost.length * 2 > looked) return reportPlace(check, { lost: lost.length, looked })
  for (const row of lost) await reportLost(check, row)
}

const isStored = async ({ context }: DataCheck, { storeKey, sizeBytes }: LfsObjectRow): Promise<boolean> =>
  (await context.objects.size(storeKey)) === sizeBytes

function reportPlace({ found }: DataCheck, { lost, looked }: { lost: number; looked: number }): void {
  const detail = `the contents of ${lost} of ${looked} objects are not in the object storage`
  const remedy = 'see whether OBJECTS_DIR, or the bucket, belongs to DATABASE_URL; nothing is forgotten until they do'
  found({ subject: 'Git LFS', detail, remedy, isRepaired: false })
}

async function reportLost(check: DataCheck, { id, oid, storeKey, sizeBytes }: LfsObjectRow): Promise<void> {
  const { db } = check.context
  await settle(check, {
    subject: `Git LFS ${oid.slice(0, 12)}`,
    detail: `${storeKey} is missing in the object storage, or has not its ${sizeBytes} bytes`,
    remedy: 'put it back from a backup',
    repair: {
      how: 'forgets it, so that "git lfs push --all" from a clone brings it back',
      run: () =>
        db.transaction(async (tx) => {
          await tx.delete(repositoryLfsObjects).where(eq(repositoryLfsObjects.objectId, id))
          await tx.delete(lfsObjects).where(eq(lfsObjects.id, id))
        }),
    },
  })
}
