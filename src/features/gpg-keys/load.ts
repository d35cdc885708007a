import type { GpgKeyRow } from '../../../db/schema/gpg-keys.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import type { ShownGpgKey } from '../../wire/gpg-key.ts'
import type { Viewer } from '../../wire/viewer.ts'
import { listProvenAddresses, listSubkeys } from './store.ts'

/** Keys of one person with their subkeys, in two statements whatever their number. Hidden addresses are shown to the owner and to administrators only. */
export async function loadGpgKeys(
  { db }: Context,
  { owner, viewer }: { owner: UserRow; viewer: Viewer },
  rows: readonly GpgKeyRow[],
): Promise<ShownGpgKey[]> {
  const ids = rows.map(({ id }) => id)
  const [subkeys, confirmed] = await Promise.all([listSubkeys(db, ids), listProvenAddresses(db, owner.id)])
  const showsEmails = !owner.keepEmailPrivate || viewer.isAdmin || viewer.userId === owner.id
  return rows.map((primary) => ({
    primary,
    subkeys: subkeys.filter(({ primaryId }) => primaryId === primary.id),
    confirmed,
    showsEmails,
  }))
}
