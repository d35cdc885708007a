import { and, eq, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import { type CommentRow, comments, issues } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { SiteRules } from '../../access/decide.ts'
import { unitSwitch } from '../../access/unit-switch.ts'
import { visibleTo } from '../../access/visible.ts'
import { visibleSubject } from '../../access/visible-subject.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { viewerOf } from '../../http/viewer.ts'
import { type Comment, presentComment } from '../../wire/comment.ts'
import type { Issue } from '../../wire/issue.ts'
import type { ShownReference } from '../../wire/timeline.ts'
import { elsewhereColumns, presentElsewhere } from '../issues/elsewhere.ts'
import { findCommentsById } from './store.ts'

/** Whether the reader may see where a reference was written, as a condition over `comments`: references that they may not see are no entries. */
export const isReferenceVisible = (site: SiteRules, actor: Actor | undefined): SQL<boolean> => sql<boolean>`exists (
  select 1 from ${repositories} join ${users} on ${users.id} = ${repositories.ownerId}
  where ${repositories.id} = ${comments.refRepositoryId} and case when ${comments.refIssueId} is null
    then ${unitSwitch['repo.code']} and ${visibleTo(site, actor, 'repo.code')}
    else ${visibleSubject(site, actor, sql`(select is_pull from ${issues} where ${issues.id} = ${comments.refIssueId})`)} end)`

/** Of references whose place the reader may see: what is shown of it, by the id of the entry. */
export async function loadReferences(
  context: Context,
  actor: Actor | undefined,
  referring: readonly CommentRow[],
): Promise<Map<number, ShownReference>> {
  if (referring.length === 0) return new Map()
  const [named, written, places] = await Promise.all([
    loadNaming(context, actor, ids(referring, 'refIssueId')),
    findCommentsById(context.db, ids(referring, 'refCommentId')),
    loadPlaces(context, ids(referring, 'refRepositoryId')),
  ])
  const viewer = viewerOf(context, actor)
  const commentOf = (entry: CommentRow, url: string | undefined): Comment | undefined => {
    const found = written.find(({ comment }) => comment.id === entry.refCommentId)
    return found && url !== undefined ? presentComment(found, url, viewer) : undefined
  }
  return new Map(
    referring.map((entry) => {
      const repositoryUrl = places.get(entry.refRepositoryId ?? 0)
      const issue = named.get(entry.refIssueId ?? 0)
      return [entry.id, { issue, comment: commentOf(entry, repositoryUrl), repositoryUrl }]
    }),
  )
}

type Reference = 'refIssueId' | 'refCommentId' | 'refRepositoryId'

const ids = (entries: readonly CommentRow[], key: Reference): number[] => [
  ...new Set(entries.flatMap((entry) => entry[key] ?? [])),
]

async function loadNaming(
  context: Context,
  actor: Actor | undefined,
  issueIds: readonly number[],
): Promise<Map<number, Issue>> {
  if (issueIds.length === 0) return new Map()
  const rows = await context.db
    .select(elsewhereColumns)
    .from(issues)
    .innerJoin(repositories, eq(repositories.id, issues.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(anyOf(issues.id, issueIds), visibleSubject(context.config, actor, issues.isPull)))
  return new Map((await presentElsewhere(context, actor, rows)).map((issue) => [issue.id, issue]))
}

/** The pages of repositories. */
async function loadPlaces({ db, baseUrl }: Context, repositoryIds: readonly number[]): Promise<Map<number, string>> {
  const rows = await db
    .select({ id: repositories.id, name: repositories.name, owner: users.name })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(anyOf(repositories.id, repositoryIds))
  return new Map(rows.map(({ id, owner, name }) => [id, `${baseUrl}/${owner}/${name}`]))
}
