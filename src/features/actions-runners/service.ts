import type { ActionsRunnerRow } from '../../../db/schema/actions.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { randomHex, sha256Hex } from '../../kernel/hashing.ts'
import { parseId } from '../../kernel/ids.ts'
import type { Page, Paged } from '../../kernel/page.ts'
import type { ShownRunner } from '../../wire/actions-runner.ts'
import type { EditActionRunnerOption } from './schema.ts'
import {
  findRunner,
  keepRegistrationToken,
  listStoredRunners,
  type RunnerScope,
  removeRunner,
  type StoredRunner,
  updateRunner,
} from './store.ts'

const TOKEN_BYTES = 20

/** A runner asks for work every few seconds; one that has been silent for longer is away. */
const ONLINE_MS = 60_000

/** One runner by the id in the path. `scope` undefined: of whatever scope. */
export interface RunnerPath {
  scope: RunnerScope | undefined
  id: string
}

/** A change of a runner, and who makes it. */
export interface RunnerChange {
  actor: Actor
  path: RunnerPath
}

const show = ({ clock }: Context, { runner, isBusy }: StoredRunner): ShownRunner => ({
  runner,
  isBusy,
  isOnline: runner.lastSeenAt !== null && clock.now().getTime() - runner.lastSeenAt.getTime() < ONLINE_MS,
})

/** In the order in which they came. `scope` undefined: those of all scopes. */
export async function listRunners(
  context: Context,
  filter: { scope: RunnerScope | undefined; isDisabled: boolean | undefined },
  page: Page,
): Promise<Paged<ShownRunner>> {
  const found = await listStoredRunners(context.db, filter, page)
  return { ...found, rows: found.rows.map((row) => show(context, row)) }
}

/** What makes a machine a runner of the scope: the same until somebody resets it. */
export async function registrationTokenOf({ db, secrets }: Context, scope: RunnerScope): Promise<string> {
  const token = randomHex(TOKEN_BYTES)
  const made = { token: secrets.seal('runner registration', token), tokenHash: sha256Hex(token) }
  return secrets.open('runner registration', await keepRegistrationToken(db, scope, made))
}

/** @throws Refusal 404 for an unknown runner, and for one of another scope */
export async function getRunner(context: Context, { scope, id: text }: RunnerPath): Promise<ShownRunner> {
  const id = parseId(text)
  const found = id === undefined ? undefined : await findRunner(context.db, id)
  if (!found || !isOf(scope, found.runner)) throw notFound('Runner not found')
  return show(context, found)
}

const isOf = (scope: RunnerScope | undefined, { repositoryId, ownerId }: ActionsRunnerRow): boolean =>
  scope === undefined || (scope.repositoryId === repositoryId && scope.ownerId === ownerId)

/** A disabled runner ends the job that it has, and gets no other. @throws Refusal 404 as `getRunner` */
export async function editRunner(
  context: Context,
  { actor, path }: RunnerChange,
  { disabled: isDisabled }: EditActionRunnerOption,
): Promise<ShownRunner> {
  const { runner, ...state } = await getRunner(context, path)
  return context.db.transaction(async (tx) => {
    const after = await updateRunner(tx, runner.id, { isDisabled })
    if (!after) throw notFound('Runner not found')
    await recordAudit(tx, actor, {
      action: 'actions_runner.edit',
      subject: subjectOf(after),
      before: { isDisabled: runner.isDisabled },
      after: { isDisabled },
    })
    return { runner: after, ...state }
  })
}

/** @throws Refusal 404 as `getRunner` */
export async function deleteRunner(context: Context, { actor, path }: RunnerChange): Promise<void> {
  const { runner } = await getRunner(context, path)
  await context.db.transaction(async (tx) => {
    const gone = await removeRunner(tx, runner.id)
    if (!gone) throw notFound('Runner not found')
    const { name, labels, repositoryId, ownerId } = gone
    await recordAudit(tx, actor, {
      action: 'actions_runner.delete',
      subject: subjectOf(gone),
      before: { name, labels, repositoryId, ownerId },
    })
  })
}

const subjectOf = ({ id, name }: ActionsRunnerRow) => ({ kind: 'actions_runner', id, name })
