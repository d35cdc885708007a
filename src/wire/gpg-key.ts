import { t } from 'elysia'
import type { GpgKeyRow } from '../../db/schema/gpg-keys.ts'
import { wireTime, wireTimeOr, ZERO_TIME } from '../kernel/time.ts'
import { int64 } from './fields.ts'

export const GPGKeyEmail = t.Object({ email: t.String(), verified: t.Boolean() }, { $id: 'GPGKeyEmail' })

const fields = {
  id: int64(),
  primary_key_id: t.String({ description: 'Empty for a primary key' }),
  key_id: t.String(),
  public_key: t.String({ description: 'The packet of the key in base64' }),
  emails: t.Nullable(t.Array(GPGKeyEmail)),
  can_sign: t.Boolean(),
  can_encrypt_comms: t.Boolean(),
  can_encrypt_storage: t.Boolean(),
  can_certify: t.Boolean(),
  verified: t.Boolean({ description: 'Whether the owner has proved to hold the key' }),
  created_at: t.String({ format: 'date-time' }),
  expires_at: t.String({ format: 'date-time' }),
}

const GPGSubkey = t.Object({ ...fields, subkeys: t.Null() }, { $id: 'GPGSubkey' })

export type GPGKey = typeof GPGKey.static
export const GPGKey = t.Object({ ...fields, subkeys: t.Nullable(t.Array(GPGSubkey)) }, { $id: 'GPGKey' })

export interface ShownGpgKey {
  primary: GpgKeyRow
  subkeys: readonly GpgKeyRow[]
  /** Confirmed addresses of the owner in lower case. */
  confirmed: ReadonlySet<string>
  /** False where the owner keeps addresses from this reader. */
  showsEmails: boolean
}

/** Wire: subkeys have neither addresses nor subkeys. */
export function presentGpgKey({ primary, subkeys, confirmed, showsEmails }: ShownGpgKey): GPGKey {
  const emails = primary.emails.map((email) => ({ email, verified: confirmed.has(email.toLowerCase()) }))
  return {
    ...presentAlone(primary),
    primary_key_id: '',
    emails: showsEmails ? emails : [],
    subkeys: subkeys.map((subkey) => ({
      ...presentAlone(subkey),
      primary_key_id: primary.keyId,
      emails: null,
      verified: primary.isVerified,
      subkeys: null,
    })),
  }
}

/** Wire: the times are those of the key itself, and one without an end shows the zero time. */
const presentAlone = (row: GpgKeyRow) => ({
  id: row.id,
  key_id: row.keyId,
  public_key: Buffer.from(row.packet).toString('base64'),
  can_sign: row.canSign,
  can_encrypt_comms: row.canEncryptComms,
  can_encrypt_storage: row.canEncryptStorage,
  can_certify: row.canCertify,
  verified: row.isVerified,
  created_at: wireTime(row.madeAt),
  expires_at: wireTimeOr(row.expiresAt, ZERO_TIME),
})
