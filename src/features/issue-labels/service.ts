import type { Db } from '../../../db/client.ts'
import type { IssueRow, LabelRow } from '../../../db/schema/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { badRequest, invalid, notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { recordHistory } from '../issues/history.ts'
import { placeOf } from '../issues/service.ts'
import { addLabels, lockIssue, readFacts, removeLabels, updateIssue } from '../issues/store.ts'
import { MAX_LABELS_OF_ISSUE, settleLabels } from '../labels/exclusive.ts'
import { holdUsableLabels, type WantedLabels } from '../labels/store.ts'
import type { IssueLabelsOption } from './schema.ts'
import { holdRepository, listIssueLabels, lockIssueLabels } from './store.ts'

interface Subject {
  actor: Actor
  repo: RepositoryAccess
  issue: IssueRow
}

type LabelsEvent = 'issue.labels_changed' | 'issue.labels_cleared'

interface Change {
  kind: LabelsEvent
  wanted: WantedLabels
  /** Which labels are on the issue then, in the order in which they came. */
  settle(carried: LabelRow[], wanted: LabelRow[]): LabelRow[]
}

/**
 * Puts labels on an issue, beside those that it has.
 * @returns all that it has then
 * @throws Refusal 400 for a list of neither ids nor names, 422 for too many
 */
export const addIssueLabels = (context: Context, subject: Subject, option: IssueLabelsOption): Promise<LabelRow[]> =>
  changeLabels(context, subject, {
    kind: 'issue.labels_changed',
    wanted: readWanted(option),
    settle: (carried, wanted) => settleLabels([...carried, ...wanted]),
  })

/**
 * Puts labels on an issue in place of those that it has.
 * @returns all that it has then
 * @throws Refusal 400 for a list of neither ids nor names
 */
export const replaceIssueLabels = (
  context: Context,
  subject: Subject,
  option: IssueLabelsOption,
): Promise<LabelRow[]> =>
  changeLabels(context, subject, {
    kind: 'issue.labels_changed',
    wanted: readWanted(option),
    settle: (_, wanted) => settleLabels(wanted),
  })

/**
 * Takes a label off an issue; one that is not on it is gone already.
 * @throws Refusal 422 for a label that no issue of this repository can have
 */
export async function removeIssueLabel(context: Context, subject: Subject, id: string): Promise<void> {
  const labelId = parseId(id) ?? 0
  await changeLabels(context, subject, {
    kind: 'issue.labels_changed',
    wanted: { ids: [labelId] },
    settle: (carried, [label]) => {
      if (!label) throw invalid(`label does not exist [label_id: ${labelId}]`)
      return carried.filter((one) => one.id !== label.id)
    },
  })
}

/** Takes all labels off an issue. */
export async function clearIssueLabels(context: Context, subject: Subject): Promise<void> {
  await changeLabels(context, subject, { kind: 'issue.labels_cleared', wanted: { ids: [] }, settle: () => [] })
}

/** Wire: nothing given is an empty list. */
function readWanted({ labels = [] }: IssueLabelsOption): WantedLabels {
  const ids = labels.filter((one) => typeof one === 'number')
  const names = labels.filter((one) => typeof one === 'string')
  if (ids.length + names.length < labels.length || !ids.every(Number.isInteger))
    throw badRequest('a label must be an integer or a string')
  if (ids.length > 0 && names.length > 0) throw badRequest('labels should be an array of strings or integers')
  return names.length > 0 ? { names } : { ids: ids.filter(Number.isSafeInteger) }
}

/**
 * One change of an issue's labels follows the other. The labels are locked before the issue, so that two changes never wait for each
 * other, and none of them is deleted or becomes exclusive meanwhile.
 */
function changeLabels(
  context: Context,
  { actor, repo, issue }: Subject,
  { kind, wanted, settle }: Change,
): Promise<LabelRow[]> {
  return context.db.transaction(async (tx) => {
    if (!(await holdRepository(tx, placeOf(repo)))) throw notFound()
    const usable = await holdUsableLabels(tx, placeOf(repo), wanted)
    const before = await lockIssue(tx, repo.repository.id, issue.number)
    if (!before) throw notFound()
    const carried = await lockIssueLabels(tx, issue.id)
    const settled = settle(carried, usable)
    if (settled.length > MAX_LABELS_OF_ISSUE) throw invalid(`at most ${MAX_LABELS_OF_ISSUE} labels`, 'labels')
    const isChanged = await replaceRows(tx, { issueId: issue.id, posterId: actor.user.id }, { carried, settled })
    const after = isChanged ? await updateIssue(tx, issue.id, { updatedAt: context.clock.now() }) : before
    const facts = await readFacts(tx, after)
    // Wire: also where nothing is changed. The event of a clearing names the labels that were there.
    await appendEvent(tx, {
      kind,
      actorId: actor.user.id,
      repositoryId: repo.repository.id,
      ownerId: repo.owner.id,
      payload: {
        ...{ issueId: after.id, number: after.number, isPull: after.isPull },
        facts: kind === 'issue.labels_cleared' ? { ...facts, labelIds: carried.map(({ id }) => id) } : facts,
      },
    })
    return listIssueLabels(tx, issue.id)
  })
}

/** Returns whether that changed anything. */
async function replaceRows(
  tx: Db,
  { issueId, posterId }: { issueId: number; posterId: number },
  { carried, settled }: { carried: LabelRow[]; settled: LabelRow[] },
): Promise<boolean> {
  const added = without(settled, carried)
  const removed = without(carried, settled)
  await removeLabels(tx, issueId, removed)
  await addLabels(tx, issueId, added)
  const entries = [
    ...removed.map((labelId) => ({ kind: 'label', body: '', labelId }) as const),
    ...added.map((labelId) => ({ kind: 'label', body: '1', labelId }) as const),
  ]
  await recordHistory(tx, { issueId, posterId }, entries)
  return entries.length > 0
}

function without(labels: readonly LabelRow[], others: readonly LabelRow[]): number[] {
  const known = new Set(others.map(({ id }) => id))
  return labels.map(({ id }) => id).filter((id) => !known.has(id))
}
