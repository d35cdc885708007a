import { t } from 'elysia'
import { MAX_CERTIFICATE_TEXT_LENGTH } from '../../signatures/openpgp.ts'

/** A signature of 8192-bit RSA has 1.5 kB. */
const MAX_SIGNATURE_LENGTH = 16_384

const signature = () =>
  t.String({
    maxLength: MAX_SIGNATURE_LENGTH,
    description: 'Armored, detached, over the text of GET /user/gpg_key_token.',
  })

export type CreateGPGKeyOption = typeof CreateGPGKeyOption.static
export const CreateGPGKeyOption = t.Object(
  {
    armored_public_key: t.String({
      minLength: 1,
      maxLength: MAX_CERTIFICATE_TEXT_LENGTH,
      description: 'As `gpg --armor --export` writes it.',
    }),
    armored_signature: t.Optional(signature()),
  },
  { $id: 'CreateGPGKeyOption' },
)

export type VerifyGPGKeyOption = typeof VerifyGPGKeyOption.static
export const VerifyGPGKeyOption = t.Object(
  { key_id: t.String({ minLength: 1, maxLength: 64 }), armored_signature: signature() },
  { $id: 'VerifyGPGKeyOption' },
)
