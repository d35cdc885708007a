import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../../db/client.ts'
import { issueAssignees, issueLabels, issues, labels, milestones } from '../../../../db/schema/issues.ts'
import { repositoryCounters } from '../../../../db/schema/repositories.ts'
import { findAssignable } from '../../../access/assignable.ts'
import { MAX_BODY_LENGTH } from '../../issues/schema.ts'
import { authorOf, type Batch, distinctBy, type Part } from '../batch.ts'
import { type Fields, fieldsOf, idOf, lineOf, numberOf, objectsOf, pastTimeOf, textOf, timeOf } from '../read.ts'
import { findItems, insertItems } from '../store.ts'
import { carryLabels } from './labels.ts'

export const issuesPart: Part = {
  name: 'issues',
  path: 'issues',
  query: { type: 'issues', state: 'all' },
  carry: carryIssues,
}

/** Of one issue, as `CreateIssueOption` has it. */
const MAX_LABELS = 100
const MAX_ASSIGNEES = 50

/** With their numbers. A number that is taken here, or that was given twice, keeps what it has. */
async function carryIssues(batch: Batch, items: readonly Fields[]): Promise<number> {
  const { db } = batch.context
  const repositoryId = batch.repository.id
  const all = distinctBy(
    items.flatMap((item) => readIssue(batch, item)),
    ({ number }) => number,
  )
  const numbers = all.map(({ number }) => number)
  const known = await findItems(db, { repositoryId, part: 'issues' }, numbers)
  const given = all.filter(({ number }) => !known.has(number))
  if (given.length === 0) return 0
  await keepNumbers(db, repositoryId, Math.max(...numbers))
  const labelIds = await bringLabels(batch, given)
  const milestoneIds = await findItems(
    db,
    { repositoryId, part: 'milestones' },
    given.flatMap(({ milestone }) => milestone ?? []),
  )
  const rows = given.map(({ labels: _, milestone, isMine: __, ...issue }) => ({
    ...issue,
    milestoneId: milestoneIds.get(milestone ?? 0) ?? null,
  }))
  const made = await insertIssues(db, repositoryId, rows)
  await insertItems(
    db,
    { repositoryId, part: 'issues' },
    made.map(({ id, number }) => ({ idThere: number, idHere: id })),
  )
  const idOfNumber = new Map(made.map(({ id, number }) => [number, id]))
  const carried = given.flatMap((issue) => {
    const issueId = idOfNumber.get(issue.number)
    return issueId === undefined ? [] : [{ issueId, ...issue }]
  })
  const links = carried.flatMap(({ issueId, labels }) =>
    labels.flatMap(({ id }) => {
      const labelId = labelIds.get(idOf(id) ?? 0)
      return labelId ? [{ issueId, labelId }] : []
    }),
  )
  await insertLinks(db, links)
  await assignDoer(
    batch,
    carried.filter(({ isMine }) => isMine).map(({ issueId }) => issueId),
  )
  return made.length
}

function readIssue(batch: Batch, item: Fields) {
  const number = numberOf(item.number)
  // Pull requests have numbers of the same series.
  if (number === undefined || (item.pull_request !== undefined && item.pull_request !== null)) return []
  const { now, migration } = batch
  const createdAt = pastTimeOf(item.created_at, now) ?? now
  const updatedAt = pastTimeOf(item.updated_at, now) ?? createdAt
  const isClosed = item.state === 'closed'
  return [
    {
      number,
      ...authorOf(batch, item),
      title: lineOf(item.title, 255) || `#${number}`,
      body: textOf(item.body, MAX_BODY_LENGTH),
      ref: lineOf(item.ref, 255),
      isClosed,
      isLocked: item.is_locked === true,
      dueAt: timeOf(item.due_date) ?? null,
      closedAt: isClosed ? (pastTimeOf(item.closed_at, now) ?? updatedAt) : null,
      createdAt,
      updatedAt,
      labels: objectsOf(item.labels, MAX_LABELS),
      milestone: idOf(fieldsOf(item.milestone).id),
      isMine:
        migration.doerIdThere !== null &&
        objectsOf(item.assignees, MAX_ASSIGNEES).some(({ id }) => id === migration.doerIdThere),
    },
  ]
}

type GivenIssue = ReturnType<typeof readIssue>[number]

/** The next issue that somebody writes here is numbered behind all of them. */
export async function keepNumbers(tx: Db, repositoryId: number, last: number): Promise<void> {
  await tx
    .update(repositoryCounters)
    .set({ lastIssueNumber: sql`greatest(${repositoryCounters.lastIssueNumber}, ${last}::int)` })
    .where(eq(repositoryCounters.repositoryId, repositoryId))
}

/** Labels of the organization there are in no list of the repository: they come with the issues that carry them. */
async function bringLabels(batch: Batch, given: readonly GivenIssue[]): Promise<Map<number, number | null>> {
  const { db } = batch.context
  const repositoryId = batch.repository.id
  const worn = given.flatMap(({ labels }) => labels)
  const ids = worn.flatMap(({ id }) => idOf(id) ?? [])
  const known = await findItems(db, { repositoryId, part: 'labels' }, ids)
  if (!batch.bringsLabels || ids.every((id) => known.has(id))) return known
  await carryLabels(batch, worn)
  return findItems(db, { repositoryId, part: 'labels' }, ids)
}

type NewIssue = Omit<GivenIssue, 'labels' | 'milestone' | 'isMine'> & { milestoneId: number | null }

async function insertIssues(
  tx: Db,
  repositoryId: number,
  rows: readonly NewIssue[],
): Promise<{ id: number; number: number }[]> {
  return tx.execute<{ id: number; number: number }>(sql`
    insert into ${issues} (repository_id, number, poster_id, original_author, original_author_id, title, body, ref, milestone_id,
      is_closed, is_locked, due_at, closed_at, created_at, updated_at)
    select ${repositoryId}::bigint, number, "posterId", "originalAuthor", "originalAuthorId", title, body, ref,
      -- One may be deleted here meanwhile.
      (select id from ${milestones} where id = "milestoneId"), "isClosed", "isLocked", "dueAt", "closedAt", "createdAt", "updatedAt"
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given(number int, "posterId" bigint,
      "originalAuthor" text, "originalAuthorId" bigint, title text, body text, ref text, "milestoneId" bigint,
      "isClosed" boolean, "isLocked" boolean, "dueAt" timestamptz, "closedAt" timestamptz, "createdAt" timestamptz,
      "updatedAt" timestamptz)
    order by number
    on conflict (repository_id, number) do nothing
    returning id, number`)
}

async function insertLinks(tx: Db, links: readonly { issueId: number; labelId: number }[]): Promise<void> {
  if (links.length === 0) return
  await tx.execute(sql`
    insert into ${issueLabels} (issue_id, label_id)
    select "issueId", "labelId"
    from json_to_recordset(${JSON.stringify(links)}::text::json) as given("issueId" bigint, "labelId" bigint)
    -- One may be deleted here meanwhile.
    join ${labels} on ${labels.id} = "labelId"
    on conflict do nothing`)
}

/** Nobody but the doer is known here and there, and only who may work on the issues is assigned to some. */
async function assignDoer({ context: { db }, repository, doer }: Batch, issueIds: readonly number[]): Promise<void> {
  if (!doer || issueIds.length === 0) return
  const [assignable] = await findAssignable(db, repository, [doer.name])
  if (!assignable) return
  await db.execute(sql`
    insert into ${issueAssignees} (issue_id, user_id)
    select id, ${assignable.id}::bigint from json_array_elements_text(${JSON.stringify(issueIds)}::text::json) as given(text)
    cross join lateral (select given.text::bigint as id) as issue
    on conflict do nothing`)
}
