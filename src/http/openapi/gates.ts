import { areasOf, audienceOf, type GateRule } from './audience.ts'
import type { GateKind } from './extensions.ts'

/**
 * What each kind of gate can answer, for the API description. Every gate reads the credential first, so every operation
 * can answer 401 (a wrong credential fails on public routes too), 403 (scope, sudo, state of the account) and 404 (sudo
 * to an unknown user); 414, 429, 431, 500, 503 and 507 come from limits, bugs, a database that is away and a disk that is full.
 */
const everywhere = [401, 403, 404, 414, 429, 431, 500, 503, 507] as const

/** A path that names an account or a repository by a former name is answered with its new address. */
export const renameStatuses = (path: string): number[] => [
  ...(path.includes('{repo}') ? [301] : []),
  ...(/\{(owner|org|username|target)\}/.test(path) ? [307] : []),
]

interface Gate {
  /** Who may pass: anybody, a signed-in caller, or only one who gave a password. */
  readonly callers: 'anyone' | 'signedIn' | 'password'
  readonly statuses: readonly number[]
}

const gates: Readonly<Record<GateKind, Gate>> = {
  open: { callers: 'anyone', statuses: everywhere },
  login: { callers: 'signedIn', statuses: everywhere },
  password: { callers: 'password', statuses: everywhere },
  admin: { callers: 'signedIn', statuses: everywhere },
  adminOf: { callers: 'signedIn', statuses: everywhere },
  readUser: { callers: 'anyone', statuses: everywhere },
  readOrg: { callers: 'anyone', statuses: everywhere },
  changeOrg: { callers: 'signedIn', statuses: everywhere },
  team: { callers: 'signedIn', statuses: everywhere },
  readRepo: { callers: 'anyone', statuses: everywhere },
  changeRepo: { callers: 'signedIn', statuses: [...everywhere, 423] },
  readIssue: { callers: 'anyone', statuses: everywhere },
  changeIssue: { callers: 'signedIn', statuses: [...everywhere, 423] },
}

export const isGateKind = (name: unknown): name is GateKind => typeof name === 'string' && Object.hasOwn(gates, name)

/** The statuses and the callers of a gate, as the description lists them. */
export const gateResponses = (kind: GateKind): Gate => gates[kind]

/** What a gate's macro puts into `detail`, so that the description knows which gate guards the route, and whom it lets pass. */
export const gateDetail = (kind: GateKind, rule: GateRule = {}) => ({
  'x-gate': kind,
  // A gate that lets anybody read, on a route that does not.
  'x-login': rule.login === true || rule.role !== undefined,
  'x-audience': audienceOf(kind, rule),
  'x-areas': areasOf(rule.scope),
})
