import { type SealedPlace, sealedColumn } from '../../db/sealed-place.ts'
import type { StoredPurpose } from '../auth/secrets.ts'
import { sealedPayloads } from '../jobs/sealed-payloads.ts'

/**
 * Everything in the database that is sealed with the secret key. A purpose without a line does not compile, and a test compares the
 * columns with those of the schema. A line here is counted by `doctor`, sealed anew by `secret rotate`, and has to be cleared by `key adopt`.
 */
const sealedPlaces: Readonly<Record<StoredPurpose, readonly SealedPlace[]>> = {
  'two-factor': [sealedColumn('two_factors', 'user_id', 'secret')],
  'hook secret': [sealedColumn('hooks', 'id', 'secret')],
  'hook authorization': [sealedColumn('hooks', 'id', 'authorization_header')],
  'hook url': [sealedColumn('hooks', 'id', 'sealed_url')],
  'mirror credentials': [
    sealedColumn('pull_mirrors', 'repository_id', 'credentials'),
    sealedColumn('push_mirrors', 'id', 'credentials'),
    sealedColumn('migrations', 'repository_id', 'credentials'),
  ],
  'actions secret': [sealedColumn('actions_values', 'id', 'sealed_value')],
  'actions masks': [sealedColumn('actions_tasks', 'id', 'masks')],
  'runner registration': [sealedColumn('actions_registration_tokens', 'id', 'token')],
  'auth source secret': [sealedColumn('auth_sources', 'id', 'client_secret')],
  'oauth signing key': [sealedColumn('oauth_signing_keys', 'kid', 'private_key')],
  mail: [sealedPayloads('mail.send')],
  'password recovery': [sealedPayloads('account.recover')],
}

/** One place, and what its values were sealed for. */
export interface PurposePlace {
  purpose: StoredPurpose
  place: SealedPlace
}

const isPurpose = (text: string): text is StoredPurpose => Object.hasOwn(sealedPlaces, text)

/** All of them. */
export const purposePlaces: readonly PurposePlace[] = Object.keys(sealedPlaces)
  .filter(isPurpose)
  .flatMap((purpose) => sealedPlaces[purpose].map((place) => ({ purpose, place })))

/** Their tables, each once. */
export const sealedTables: readonly string[] = [...new Set(purposePlaces.map(({ place }) => place.table))]
