import { t } from 'elysia'
import type { OAuthApplicationRow } from '../../db/schema/oauth.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'

export type OAuth2Application = typeof OAuth2Application.static
export const OAuth2Application = t.Object(
  {
    id: int64(),
    name: t.String(),
    client_id: t.String(),
    client_secret: t.String({ description: 'In the answer that made it only.' }),
    confidential_client: t.Boolean(),
    skip_secondary_authorization: t.Boolean(),
    redirect_uris: t.Array(t.String()),
    created: t.String({ format: 'date-time' }),
  },
  { $id: 'OAuth2Application' },
)

/** @param secret where it was made just now; it cannot be shown again */
export const presentOAuth2Application = (application: OAuthApplicationRow, secret = ''): OAuth2Application => ({
  id: application.id,
  name: application.name,
  client_id: application.clientId,
  client_secret: secret,
  confidential_client: application.isConfidential,
  skip_secondary_authorization: application.skipsConsent,
  redirect_uris: application.redirectUris,
  created: wireTime(application.createdAt),
})
