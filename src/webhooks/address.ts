import type { HookRow } from '../../db/schema/hooks.ts'
import type { Context } from '../context.ts'
import { lockUnsealed, setAddress } from './store.ts'

const PURPOSE = 'hook url'
const HIDDEN = '***'

/** Services whose paths hold the secret: the host, and the path up to the secret with the secret behind it. */
const SECRET_PATHS: readonly (readonly [host: RegExp, path: RegExp])[] = [
  [/^hooks\.slack(?:-gov)?\.com$/, /^(\/[^/]+\/).+/s],
  [/^(?:\w+\.)?discord(?:app)?\.com$/, /^(\/api\/(?:v\d+\/)?webhooks\/[^/]+\/)[^/]+/],
  [/^api\.telegram\.org$/, /^(\/bot)[^/]+/],
  [/^open\.(?:feishu\.cn|larksuite\.com)$/, /^(\/open-apis\/bot\/(?:v2\/)?hook\/).+/s],
  [/^(?:.+\.webhook\.office\.com|outlook\.office(?:365)?\.com)$/, /^(\/webhook(?:b2)?\/).+/s],
]

/**
 * The address as everybody may read it who may read the hook. What may be a secret is hidden: user and password, each value of the
 * query, the fragment, and the secret in the path of services that are known to have one. Other paths stay.
 */
export function shownAddress(url: string): string {
  const [, scheme = '', user = '', place = '', query, fragment] =
    /^([^:]+:\/\/)([^/?#]*@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(url) ?? []
  const shownQuery = query === undefined ? '' : `?${query.split('&').map(hideValue).join('&')}`
  return `${scheme}${user && `${HIDDEN}@`}${shownPlace(place)}${shownQuery}${fragment ? `#${HIDDEN}` : ''}`
}

function shownPlace(place: string): string {
  const [, authority = '', path = ''] = /^([^/]*)(.*)$/s.exec(place) ?? []
  const host = authority.replace(/\.?(?::\d*)?$/, '').toLowerCase()
  const [, secret] = SECRET_PATHS.find(([known]) => known.test(host)) ?? []
  return authority + (secret ? path.replace(secret, `$1${HIDDEN}`) : path)
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
