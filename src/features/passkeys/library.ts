import { once } from '../../kernel/once.ts'

/** The library that reads what devices sign, loaded with the first passkey: it takes 0.1 s and 26 MB that most replicas never need. */
export const loadWebAuthn = once(() => import('@simplewebauthn/server'))
