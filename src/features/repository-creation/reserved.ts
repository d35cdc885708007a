import type { Db } from '../../../db/client.ts'
import { allowPause } from '../../../db/pause.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import { conflict, unavailable } from '../../kernel/errors.ts'
import { keepAccounts } from '../repositories/deletion-lock.ts'
import { NAME_TAKEN } from '../repositories/names.ts'
import { connectionSlots } from './connection-slots.ts'
import { claimReservation, removeOrphanFolder, reserveRepositoryId } from './reservations.ts'

/** Ids that a search for orphans took away, or whose place in the store is used, before giving up. */
const MAX_TRIES = 5

/** The two halves of a repository to be. */
export interface Building {
  /** Makes the folder whole. `repository-exists` of the engine means that another id must be taken. */
  buildFolder(id: number): Promise<void>
  /** Writes the rows, in the transaction whose commit makes the repository visible. */
  insertRows(tx: Db, id: number): Promise<void>
}

/**
 * Makes a repository whole or not at all: the folder is built under a reserved id before any row is written, and one commit
 * makes the row visible and ends the reservation.
 * @throws Refusal 409 when the name is taken meanwhile, 503 when no id could be used
 */
export async function buildRepository(context: Context, building: Building): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const id = await reserveRepositoryId(context.db)
    if (await buildReserved(context, building, id)) return id
  }
  throw unavailable('the repository could not be stored, try again')
}

/** False when the id cannot be used. What a failure leaves in the store goes at once, or with the next search for orphans. */
async function buildReserved(context: Context, building: Building, id: number): Promise<boolean> {
  try {
    return await connectionSlots(context)(() =>
      context.db.transaction(async (tx) => {
        if (!(await claimReservation(tx, id))) return false
        // A copy of a large repository, say.
        await allowPause(tx, context.config.gitTimeoutSeconds)
        // The folder of somebody else: not ours to remove, so the reservation ends.
        if ((await buildFolder(building, id)) === 'taken') return false
        await keepAccounts(tx)
        await building.insertRows(tx, id)
        return true
      }),
    )
  } catch (error) {
    await removeOrphanFolder(context, id).catch((err) => context.log.warn({ err, id }, 'a folder waits to be removed'))
    throw violatedConstraint(error) === 'repositories_owner_name_key' ? conflict(NAME_TAKEN) : error
  }
}

async function buildFolder(building: Building, id: number): Promise<'built' | 'taken'> {
  try {
    await building.buildFolder(id)
    return 'built'
  } catch (error) {
    if (isGitError(error) && error.code === 'repository-exists') return 'taken'
    throw error
  }
}
