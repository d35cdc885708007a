import type { Db } from '../../db/client.ts'
import { auditEntries } from '../../db/schema/audit.ts'
import type { Actor } from '../auth/actor.ts'
import type { RequestOrigin } from '../auth/origin.ts'

/** Who makes a change: the actor of a request, or the program itself. */
export type AuditSource = Actor | 'system' | 'command line' | 'runner'

export interface AuditEntry {
  /** What kind of thing, and what was done to it: `user.edit`, `access_token.create`. */
  action: `${string}.${string}`
  subject: { kind: string; id?: number | null; name?: string }
  /** The fields of the subject before and after; equal ones are left out. For something new only `after`, for something gone only `before`. */
  before?: object
  after?: object
  /** Of the request, where nobody has signed in that would carry it. */
  origin?: RequestOrigin
}

/** Values under such names are replaced by a mark. The trail shows that they changed, never what they are. */
const SECRET = /^(?!must_?change).*(password|secret|token|hash|otp|recovery)/i

/** Writes an entry of the audit trail. `tx` is the transaction of the change itself. */
export async function recordAudit(tx: Db, source: AuditSource, entry: AuditEntry): Promise<void> {
  await tx.insert(auditEntries).values({
    ...describeSource(source),
    ...(entry.origin && describeOrigin(entry.origin)),
    action: entry.action,
    subjectKind: entry.subject.kind,
    subjectId: entry.subject.id ?? null,
    subjectName: entry.subject.name ?? '',
    changes: changesBetween(entry.before ?? {}, entry.after ?? {}),
  })
}

function describeSource(source: AuditSource): Omit<typeof auditEntries.$inferInsert, 'action' | 'subjectKind'> {
  if (typeof source === 'string') return { method: source }
  const { user, sudoer, method, tokenId, origin } = source
  return {
    actorId: user.id,
    actorName: user.name,
    sudoerId: sudoer?.id ?? null,
    sudoerName: sudoer?.name ?? '',
    method,
    tokenId: tokenId ?? null,
    ...describeOrigin(origin),
  }
}

const describeOrigin = (origin: RequestOrigin | undefined) => ({
  address: origin?.address ?? '',
  route: origin?.route ?? '',
  requestId: origin?.requestId ?? '',
})

/** Field to `[before, after]` for each that differs; a field that is undefined after was not touched. */
export function changesBetween(before: object, after: object): Record<string, [unknown, unknown]> {
  const old = new Map<string, unknown>(Object.entries(before))
  const now = new Map<string, unknown>(Object.entries(after))
  const isGone = now.size === 0
  const names = new Set([...old.keys(), ...now.keys()])
  const changes = [...names].flatMap((name): [string, [unknown, unknown]][] => {
    const [left, right] = [plain(old.get(name)), plain(now.get(name))]
    if (!isGone && (now.get(name) === undefined || JSON.stringify(left) === JSON.stringify(right))) return []
    return [[name, SECRET.test(name) ? ['(hidden)', '(hidden)'] : [left, right]]]
  })
  return Object.fromEntries(changes)
}

const plain = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : (value ?? null))
