import { t } from 'elysia'
import { int64 } from '../../wire/fields.ts'

export const TwoFactorState = t.Object(
  {
    enabled: t.Boolean(),
    confirmed_at: t.Nullable(t.String({ format: 'date-time' })),
    recovery_codes_left: int64(),
  },
  { $id: 'TwoFactorState' },
)

export const TwoFactorEnrolment = t.Object(
  {
    secret: t.String({ description: 'In base32, to be typed where a QR code cannot be read.' }),
    url: t.String({ description: 'As `otpauth://totp/...`, for the authenticator application.' }),
    qr_svg: t.String({ description: 'The same as a picture.' }),
  },
  { $id: 'TwoFactorEnrolment' },
)

export const ConfirmTwoFactorOption = t.Object(
  { code: t.String({ minLength: 1, maxLength: 16, description: 'What the application shows now.' }) },
  { $id: 'ConfirmTwoFactorOption' },
)

export const RecoveryCodes = t.Object(
  { recovery_codes: t.Array(t.String({ description: 'Good for one sign-in each; shown this once.' })) },
  { $id: 'RecoveryCodes' },
)
