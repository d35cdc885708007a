import { t } from 'elysia'

/** base64url, of anything that a device may send. */
const encoded = () => t.String({ maxLength: 20_000 })

const common = {
  id: encoded(),
  rawId: encoded(),
  type: t.Literal('public-key'),
  clientExtensionResults: t.Object({}),
}

/** What `navigator.credentials.create` gives, as JSON (WebAuthn, 5.1). */
export const NewCredential = t.Object({
  ...common,
  response: t.Object({
    clientDataJSON: encoded(),
    attestationObject: encoded(),
    transports: t.Optional(t.Array(t.String({ maxLength: 32 }), { maxItems: 10 })),
  }),
})

/** What `navigator.credentials.get` gives. */
export const Assertion = t.Object({
  ...common,
  response: t.Object({
    clientDataJSON: encoded(),
    authenticatorData: encoded(),
    signature: encoded(),
    userHandle: t.Optional(encoded()),
  }),
})
