import { asc, eq } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { issueAssignees, issueLabels, labels, milestones } from '../../../db/schema/issues.ts'
import { users } from '../../../db/schema/users.ts'
import type { VersionedIssue } from '../../access/issues.ts'
import type { ShownIssue } from '../../wire/issue.ts'
import { listByParent } from '../attachments/store.ts'

export interface LoadedIssue extends ShownIssue {
  /** Changes with every row that the issue's shape is made of. */
  version: string
}

/** Gathers what issues show beside their own row: five statements, however many issues there are. */
export async function loadIssues(db: Db, found: readonly VersionedIssue[]): Promise<LoadedIssue[]> {
  if (found.length === 0) return []
  const ids = found.map(({ issue }) => issue.id)
  const posterIds = distinct(found.map(({ issue }) => issue.posterId))
  const milestoneIds = distinct(found.map(({ issue }) => issue.milestoneId))
  const [posters, assignees, labelled, planned, files] = await Promise.all([
    posterIds.length === 0 ? [] : db.select(userColumns).from(users).where(anyOf(users.id, posterIds)),
    db
      .select({ issueId: issueAssignees.issueId, ...userColumns })
      .from(issueAssignees)
      .innerJoin(users, eq(users.id, issueAssignees.userId))
      .where(anyOf(issueAssignees.issueId, ids))
      .orderBy(asc(users.id)),
    db
      .select({ issueId: issueLabels.issueId, label: labels, version: rowVersion(labels) })
      .from(issueLabels)
      .innerJoin(labels, eq(labels.id, issueLabels.labelId))
      .where(anyOf(issueLabels.issueId, ids))
      .orderBy(asc(labels.name), asc(labels.id)),
    milestoneIds.length === 0
      ? []
      : db
          .select({ milestone: milestones, version: rowVersion(milestones) })
          .from(milestones)
          .where(anyOf(milestones.id, milestoneIds)),
    listByParent(db, 'issueId', ids),
  ])
  const posterById = new Map(posters.map((poster) => [poster.user.id, poster]))
  const milestoneById = new Map(planned.map((plan) => [plan.milestone.id, plan]))
  const assigneesOf = Map.groupBy(assignees, (row) => row.issueId)
  const labelsOf = Map.groupBy(labelled, (row) => row.issueId)
  return found.map(({ issue, version }) => {
    const poster = issue.posterId === null ? undefined : posterById.get(issue.posterId)
    const milestone = issue.milestoneId === null ? undefined : milestoneById.get(issue.milestoneId)
    const assigned = assigneesOf.get(issue.id) ?? []
    const carried = labelsOf.get(issue.id) ?? []
    const attached = files.get(issue.id) ?? []
    return {
      issue,
      version: [
        ...[version, poster?.version, milestone?.version],
        ...[assigned, carried, attached].map(versionsOf),
      ].join(';'),
      poster: poster?.user,
      milestone: milestone?.milestone,
      assignees: assigned.map((row) => row.user),
      labels: carried.map((row) => row.label),
      assets: attached.map((row) => row.attachment),
    }
  })
}

const versionsOf = (rows: readonly { version: string }[]): string => rows.map(({ version }) => version).join(' ')

const userColumns = { user: users, version: rowVersion(users) }

const distinct = (ids: readonly (number | null)[]): number[] => [...new Set(ids.filter((id) => id !== null))]
