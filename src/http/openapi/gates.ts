import type { GateKind } from './extensions.ts'

/**
 * What each kind of gate can answer, for the API description. Every gate reads the credential first, so every operation
 * can answer 401 (a wrong credential fails on public routes too), 403 (scope, sudo, state of the account) and 404 (sudo
 * to an unknown user); 429, 500 and 503 come from limits, bugs and a database that is away.
 */
const everywhere = [401, 403, 404, 429, 500, 503] as const

/** An owner or a repository that was renamed answers with its new address. */
const renamed = [301, 307] as const

interface Gate {
  /** Who may pass: anybody, a signed-in caller, or only one who gave a password. */
  readonly callers: 'anyone' | 'signedIn' | 'password'
  readonly statuses: readonly number[]
}

const gates: Readonly<Record<GateKind, Gate>> = {
  open: { callers: 'anyone', statuses: everywhere },
  login: { callers: 'signedIn', statuses: everywhere },
  password: { callers: 'password', statuses: [...everywhere, ...renamed] },
  admin: { callers: 'signedIn', statuses: everywhere },
  adminOf: { callers: 'signedIn', statuses: [...everywhere, ...renamed] },
  readUser: { callers: 'anyone', statuses: [...everywhere, ...renamed] },
  readOrg: { callers: 'anyone', statuses: [...everywhere, ...renamed] },
  changeOrg: { callers: 'signedIn', statuses: [...everywhere, ...renamed] },
  team: { callers: 'signedIn', statuses: everywhere },
  readRepo: { callers: 'anyone', statuses: [...everywhere, ...renamed] },
  changeRepo: { callers: 'signedIn', statuses: [...everywhere, ...renamed, 423] },
}

export const isGateKind = (name: unknown): name is GateKind => typeof name === 'string' && Object.hasOwn(gates, name)

/** The statuses and the callers of a gate, as the description lists them. */
export const gateResponses = (kind: GateKind): Gate => gates[kind]

/**
 * What a gate's macro puts into `detail`, so that the description knows which gate guards the route.
 * @param needsLogin for a gate that lets anybody read, on a route that does not
 */
export const gateDetail = (kind: GateKind, needsLogin = false): { 'x-gate': GateKind; 'x-login'?: boolean } =>
  needsLogin ? { 'x-gate': kind, 'x-login': true } : { 'x-gate': kind }
