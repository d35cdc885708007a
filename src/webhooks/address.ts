import type { HookRow } from '../../db/schema/hooks.ts'
import type { Context } from '../context.ts'
import { lockUnsealed, setAddress } from './store.ts'

const PURPOSE = 'hook url'
const HIDDEN = '***'

/**
 * The address as everybody may read it who may read the hook. What may be a secret is hidden: user and password, each value of the
 * query, and the fragment. The path stays.
 */
export function shownAddress(url: string): string {
  const [, scheme = '', user = '', place = '', query, fragment] =
    /^([^:]+:\/\/)([^/?#]*@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(url) ?? []
  const shownQuery = query === undefined ? '' : `?${query.split('&').map(hideValue).join('&')}`
  return `${scheme}${user && `${HIDDEN}@`}${place}${shownQuery}${fragment ? `#${HIDDEN}` : ''}`
}

/** A part without a name may be the secret itself. */
function hideValue(part: string): string {
  if (part === '') return ''
  const end = part.indexOf('=')
  return end < 0 ? HIDDEN : `${part.slice(0, end)}=${part.length > end + 1 ? HIDDEN : ''}`
}

/** What is stored of an address. */
export const sealAddress = ({ secrets }: Context, url: string): Pick<HookRow, 'url' | 'sealedUrl'> => ({
  url: shownAddress(url),
  sealedUrl: secrets.seal(PURPOSE, url),
})

/** The whole address, to send to. @throws Refusal 503 when it was sealed with another secret key */
export const openAddress = ({ secrets }: Context, { url, sealedUrl }: Pick<HookRow, 'url' | 'sealedUrl'>): string =>
  sealedUrl === null ? url : secrets.open(PURPOSE, sealedUrl)

const BATCH = 500

/** Seals addresses that an older version stored as they were given. Several replicas may do so at the same time. */
export async function sealStoredAddresses(context: Context, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const count = await context.db.transaction(async (tx) => {
      const rows = await lockUnsealed(tx, BATCH)
      for (const { id, url } of rows) await setAddress(tx, id, sealAddress(context, url))
      return rows.length
    })
    if (count < BATCH) return
  }
}
