import { once } from '../../kernel/once.ts'

/** The library that reads what devices sign, loaded with the first passkey: it takes 0.1 s and 26 MB that most replicas never need. */
export const loadWebAuthn = once(async () => {
  // A part of it wants this first. In the compiled program nothing else brings it in time.
  await import('reflect-metadata')
  return import('@simplewebauthn/server')
})
