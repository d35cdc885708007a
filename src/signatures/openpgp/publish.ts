import { armor, enums, readKey } from 'openpgp'
import { settings } from './library.ts'

/** Public keys in one armored block. @param hidesUserIds leaves out names and addresses */
export async function publishKeys(certificates: readonly Uint8Array[], hidesUserIds: boolean): Promise<string> {
  const shown = hidesUserIds ? await Promise.all(certificates.map(withoutUserIds)) : certificates
  return armor(enums.armor.publicKey, Buffer.concat(shown), undefined, undefined, undefined, false, settings)
}

async function withoutUserIds(binaryKey: Uint8Array): Promise<Uint8Array> {
  const key = await readKey({ binaryKey, config: settings }).catch(() => undefined)
  // One that an older version took and that is not taken any more.
  if (!key) return new Uint8Array()
  key.users = []
  return key.write()
}
