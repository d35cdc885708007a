import type { HandlerContext } from '@connectrpc/connect'
import type { Db } from '../../../db/client.ts'
import type { ActionsRunnerRow } from '../../../db/schema/actions.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Context } from '../../context.ts'
import { countWrongCredential } from '../../http/rate-limit.ts'
import { badRequest, unauthorized } from '../../kernel/errors.ts'
import { randomHex, sha256Hex } from '../../kernel/hashing.ts'
import { countRunners, findRegistrationScope, insertRunner, updateRunner } from '../actions-runners/store.ts'
import { exchangeOfCall, requireRunner } from './caller.ts'
import type { DeclareRequest, RegisterRequest } from './messages/runner_pb.js'

const TOKEN_BYTES = 20
const MAX_NAME = 255
const MAX_LABELS = 100

/** A new runner of the token's scope, and the token by which it is known from now on.
 * @throws Refusal 400 for a name or labels that are none, 401 for a wrong token, 422 for one more than MAX_OWNED */
export async function register(
  context: Context,
  request: RegisterRequest,
  call: HandlerContext,
): Promise<{ runner: ActionsRunnerRow; token: string }> {
  const { name, version, ephemeral: isEphemeral } = request
  if (name === '' || request.token === '') throw badRequest('missing runner token, name')
  requireText('name', name)
  requireText('version', version)
  const scope = await findRegistrationScope(context.db, sha256Hex(request.token))
  if (!scope) {
    await countWrongCredential(context, exchangeOfCall(call))
    throw unauthorized('runner registration token not found')
  }
  const labels = readLabels([...request.labels, ...request.agentLabels, ...request.customLabels])
  const token = randomHex(TOKEN_BYTES)
  const runner = await context.db.transaction(async (tx) => {
    const row = await insertRunner(tx, { ...scope, tokenHash: sha256Hex(token), name, version, labels, isEphemeral })
    await requireOwnedQuota(tx, context.config, {
      items: 'runners',
      of: JSON.stringify(scope),
      count: () => countRunners(tx, scope),
    })
    await audit(tx, 'actions_runner.create', row)
    return row
  })
  return { runner, token }
}

/** What the runner says of itself at each start. @throws Refusal 400 for labels that are none, 401 */
export async function declare(
  context: Context,
  { version, labels }: DeclareRequest,
  call: HandlerContext,
): Promise<ActionsRunnerRow> {
  const { id } = await requireRunner(context, call)
  requireText('version', version)
  const declared = await updateRunner(context.db, id, { version, labels: readLabels(labels) })
  if (!declared) throw unauthorized('unregistered runner')
  return declared
}

function requireText(field: string, text: string): void {
  if (text.length > MAX_NAME || text.includes('\0'))
    throw badRequest(`${field}: at most ${MAX_NAME} characters, no NUL`)
}

function readLabels(labels: readonly string[]): string[] {
  const distinct = [...new Set(labels.map((label) => label.trim()).filter((label) => label !== ''))]
  if (distinct.length > MAX_LABELS) throw badRequest(`labels: at most ${MAX_LABELS}`)
  for (const label of distinct) requireText('label', label)
  return distinct
}

const audit = (tx: Db, action: 'actions_runner.create', row: ActionsRunnerRow) =>
  recordAudit(tx, 'runner', {
    action,
    subject: { kind: 'actions_runner', id: row.id, name: row.name },
    after: { name: row.name, labels: row.labels, repositoryId: row.repositoryId, ownerId: row.ownerId },
  })
