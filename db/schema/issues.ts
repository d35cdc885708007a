import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { createdAt, id, instant, reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** Who wrote what came from another server, as that server says: nobody of this one. Empty and 0 for what was written here. */
const originalAuthor = () => ({
  originalAuthor: text().notNull().default(''),
  originalAuthorId: bigint({ mode: 'number' }).notNull().default(0),
})

export const milestones = pgTable(
  'milestones',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    title: text().notNull(),
    description: text().notNull().default(''),
    isClosed: boolean().notNull().default(false),
    openIssuesCount: integer().notNull().default(0),
    closedIssuesCount: integer().notNull().default(0),
    dueAt: instant(),
    closedAt: instant(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    index('milestones_repository_idx').on(table.repositoryId, table.isClosed, table.dueAt, table.id),
    index('milestones_title_idx').on(table.title),
    check('milestones_title_length', sql`char_length(title) between 1 and 255`),
  ],
)
export type MilestoneRow = typeof milestones.$inferSelect

/** Labels belong to a repository or to an organization. */
export const labels = pgTable(
  'labels',
  {
    id: id(),
    repositoryId: reference().references(() => repositories.id, { onDelete: 'cascade' }),
    organizationId: reference().references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** Six hexadecimal digits, lower case, without `#`. */
    color: text().notNull(),
    description: text().notNull().default(''),
    isExclusive: boolean().notNull().default(false),
    isArchived: boolean().notNull().default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    index('labels_repository_idx').on(table.repositoryId, table.name, table.id),
    index('labels_organization_idx').on(table.organizationId, table.name, table.id),
    index('labels_name_idx').on(table.name),
    check('labels_one_parent', sql`(repository_id is null) <> (organization_id is null)`),
    check('labels_color', sql`color ~ '^[0-9a-f]{6}$'`),
  ],
)
export type LabelRow = typeof labels.$inferSelect

/** Issues and pull requests share one table and one series of numbers per repository. */
export const issues = pgTable(
  'issues',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    number: integer().notNull(),
    isPull: boolean().notNull().default(false),
    /** Null once the author's account was deleted: shown as the ghost user. */
    posterId: reference().references(() => users.id, { onDelete: 'set null' }),
    ...originalAuthor(),
    title: text().notNull(),
    body: text().notNull().default(''),
    /** Counts the changes of the body, so that a stale edit can be refused. */
    contentVersion: integer().notNull().default(0),
    ref: text().notNull().default(''),
    milestoneId: reference().references(() => milestones.id, { onDelete: 'set null' }),
    isClosed: boolean().notNull().default(false),
    isLocked: boolean().notNull().default(false),
    lockReason: text().notNull().default(''),
    /** From 1, of issues and of pull requests apart; 0: not pinned. */
    pinOrder: integer().notNull().default(0),
    commentsCount: integer().notNull().default(0),
    timeEstimateSeconds: bigint({ mode: 'number' }).notNull().default(0),
    dueAt: instant(),
    closedAt: instant(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('issues_repository_number_key').on(table.repositoryId, table.number),
    index('issues_list_idx').on(table.repositoryId, table.isPull, table.isClosed, table.createdAt, table.id),
    index('issues_updated_idx').on(table.updatedAt, table.repositoryId, table.id),
    index('issues_poster_idx').on(table.posterId, table.createdAt),
    index('issues_milestone_idx').on(table.milestoneId),
    uniqueIndex('issues_pin_key').on(table.repositoryId, table.isPull, table.pinOrder).where(sql`pin_order > 0`),
    check('issues_pin_order', sql`pin_order >= 0`),
    check('issues_title_length', sql`char_length(title) <= 255`),
  ],
)
export type IssueRow = typeof issues.$inferSelect

export const issueLabels = pgTable(
  'issue_labels',
  {
    issueId: reference()
      .notNull()
      .references(() => issues.id, { onDelete: 'cascade' }),
    labelId: reference()
      .notNull()
      .references(() => labels.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.issueId, table.labelId] }),
    index('issue_labels_label_idx').on(table.labelId, table.issueId),
  ],
)

export const issueAssignees = pgTable(
  'issue_assignees',
  {
    issueId: reference()
      .notNull()
      .references(() => issues.id, { onDelete: 'cascade' }),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.issueId, table.userId] }),
    index('issue_assignees_user_idx').on(table.userId, table.issueId),
  ],
)

/** Who subscribed to an issue, or asked not to be notified. Others are notified as watchers, or because they take part. */
export const issueSubscriptions = pgTable(
  'issue_subscriptions',
  {
    issueId: reference()
      .notNull()
      .references(() => issues.id, { onDelete: 'cascade' }),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    isSubscribed: boolean().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.issueId, table.userId] }),
    index('issue_subscriptions_user_idx').on(table.userId, table.issueId),
  ],
)

/**
 * What people wrote (`comment`) and what happened (`close`, `reopen`, ...) to an issue, in order. What the kinds keep in the body is said in
 * `src/features/issues/history.ts`.
 */
export const comments = pgTable(
  'comments',
  {
    id: id(),
    issueId: reference()
      .notNull()
      .references(() => issues.id, { onDelete: 'cascade' }),
    kind: text().notNull().default('comment'),
    posterId: reference().references(() => users.id, { onDelete: 'set null' }),
    ...originalAuthor(),
    body: text().notNull().default(''),
    contentVersion: integer().notNull().default(0),
    /** The label that came or went. */
    labelId: reference().references(() => labels.id, { onDelete: 'set null' }),
    /** The other issue of a dependency that came or went. */
    dependentIssueId: reference().references(() => issues.id, { onDelete: 'set null' }),
    /** Of a reference: where it was written. Null otherwise, and once that repository is gone. */
    refRepositoryId: reference().references(() => repositories.id, { onDelete: 'set null' }),
    /** The issue that it was written in, or in a comment on. */
    refIssueId: reference().references(() => issues.id, { onDelete: 'cascade' }),
    refCommentId: reference().references((): AnyPgColumn => comments.id, { onDelete: 'cascade' }),
    /** The commit that it was written in; also of a change of the state that the commit made. */
    refCommitSha: text(),
    /** What the words before it ask for: none, closes or reopens. */
    refAction: text(),
    oldTitle: text().notNull().default(''),
    newTitle: text().notNull().default(''),
    oldMilestoneId: reference().references(() => milestones.id, { onDelete: 'set null' }),
    milestoneId: reference().references(() => milestones.id, { onDelete: 'set null' }),
    /** Who was asked to work on the issue, or no longer is. */
    assigneeId: reference().references(() => users.id, { onDelete: 'set null' }),
    isUnassigned: boolean().notNull().default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    index('comments_issue_idx').on(table.issueId, table.createdAt, table.id),
    index('comments_poster_idx').on(table.posterId),
    index('comments_words_idx').using('gin', sql`searched_words(body)`).where(sql`kind = 'comment'`),
    index('comments_label_idx').on(table.labelId).where(sql`label_id is not null`),
    index('comments_old_milestone_idx').on(table.oldMilestoneId).where(sql`old_milestone_id is not null`),
    index('comments_milestone_idx').on(table.milestoneId).where(sql`milestone_id is not null`),
    index('comments_assignee_idx').on(table.assigneeId).where(sql`assignee_id is not null`),
    index('comments_dependent_issue_idx').on(table.dependentIssueId).where(sql`dependent_issue_id is not null`),
    index('comments_ref_repository_idx').on(table.refRepositoryId).where(sql`ref_repository_id is not null`),
    // A text refers to an issue once, and a commit does one thing to it once.
    uniqueIndex('comments_issue_ref_key').on(table.refIssueId, table.issueId).where(sql`kind = 'issue_ref'`),
    uniqueIndex('comments_comment_ref_key')
      .on(table.refCommentId, table.issueId)
      .where(sql`ref_comment_id is not null`),
    uniqueIndex('comments_commit_key')
      .on(table.issueId, table.kind, table.refCommitSha)
      .where(sql`ref_commit_sha is not null`),
    index('comments_ref_issue_idx').on(table.refIssueId).where(sql`ref_issue_id is not null`),
  ],
)
export type CommentRow = typeof comments.$inferSelect
