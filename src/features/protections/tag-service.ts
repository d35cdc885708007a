import type { Db } from '../../../db/client.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Context } from '../../context.ts'
import { badRequest, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import type { ShownTagProtection } from '../../wire/tag-protection.ts'
import { auditSubjectOf } from '../repositories/subject.ts'
import { findListedPeople, findListedTeams, loadNames, namesOf, type Subject } from './listed.ts'
import { loadTagRules } from './load.ts'
import { faultInTagPattern, type TagRule } from './rules.ts'
import type { CreateTagProtectionOption, EditTagProtectionOption } from './schema.ts'
import { countTagRules, insertTagRule, removeTagRule, replaceTagListed, updateTagRule } from './tag-store.ts'

/** All rules for the tags of a repository, the oldest first. */
export async function listTagRules(
  { db }: Context,
  { repository }: Pick<RepositoryAccess, 'repository'>,
): Promise<ShownTagProtection[]> {
  return show(db, await loadTagRules(db, repository.id))
}

/** @throws Refusal 404 for an unknown rule, and for one of another repository */
export async function getTagRule(
  { db }: Context,
  { repository }: Pick<RepositoryAccess, 'repository'>,
  id: number | undefined,
): Promise<ShownTagProtection> {
  const rules = await loadTagRules(db, repository.id)
  const [shown] = await show(
    db,
    rules.filter((rule) => rule.id === id),
  )
  if (!shown) throw notFound()
  return shown
}

async function show(db: Db, rules: readonly TagRule[]): Promise<ShownTagProtection[]> {
  const names = await loadNames(db, {
    people: rules.flatMap(({ listed }) => listed.people),
    teams: rules.flatMap(({ listed }) => listed.teams),
  })
  return rules.map(({ listed, ...row }) => ({
    ...row,
    people: namesOf(names.people, listed.people),
    teams: namesOf(names.teams, listed.teams),
  }))
}

/** @throws Refusal 400 without a pattern or without anybody listed, 403 when there is a rule of this pattern, 422 for what is unknown or no pattern */
export async function createTagRule(
  context: Context,
  subject: Subject,
  option: CreateTagProtectionOption,
): Promise<ShownTagProtection> {
  const { repository } = subject.repo
  const namePattern = readPattern(option.name_pattern ?? '')
  if (!option.whitelist_usernames?.length && !option.whitelist_teams?.length)
    throw badRequest('both whitelist_usernames and whitelist_teams are empty')
  const lists = await findLists(context, subject, option)
  const id = await refusingTaken(() =>
    context.db.transaction(async (tx) => {
      const row = await insertTagRule(tx, { repositoryId: repository.id, namePattern })
      await requireOwnedQuota(tx, context.config, {
        items: 'rules for tags',
        of: `repository ${repository.id}`,
        count: () => countTagRules(tx, repository.id),
      })
      await replaceTagListed(tx, row.id, lists)
      const after = { ...option, name_pattern: namePattern }
      await recordAudit(tx, subject.actor, {
        action: 'tag_protection.create',
        subject: auditSubjectOf(subject.repo),
        after,
      })
      return row.id
    }),
  )
  return getTagRule(context, subject.repo, id)
}

/** @throws Refusal 403 when another rule has the pattern, 404, 422 for what is unknown, empty, or no pattern */
export async function editTagRule(
  context: Context,
  subject: Subject,
  { id, option }: { id: number | undefined; option: EditTagProtectionOption },
): Promise<ShownTagProtection> {
  const before = await getTagRule(context, subject.repo, id)
  const place = { repositoryId: subject.repo.repository.id, id: before.id }
  const namePattern = option.name_pattern === undefined ? undefined : readPattern(option.name_pattern, invalid)
  const lists = await findLists(context, subject, option)
  await refusingTaken(() =>
    context.db.transaction(async (tx) => {
      if (!(await updateTagRule(tx, place, namePattern))) throw notFound()
      await replaceTagListed(tx, before.id, lists)
      const after = { pattern: before.namePattern, ...option }
      await recordAudit(tx, subject.actor, {
        action: 'tag_protection.edit',
        subject: auditSubjectOf(subject.repo),
        after,
      })
    }),
  )
  return getTagRule(context, subject.repo, id)
}

/** @throws Refusal 404 */
export async function deleteTagRule(context: Context, subject: Subject, id: number | undefined): Promise<void> {
  if (id === undefined) throw notFound()
  await context.db.transaction(async (tx) => {
    const row = await removeTagRule(tx, { repositoryId: subject.repo.repository.id, id })
    if (!row) throw notFound()
    const before = { pattern: row.namePattern }
    await recordAudit(tx, subject.actor, {
      action: 'tag_protection.delete',
      subject: auditSubjectOf(subject.repo),
      before,
    })
  })
}

/** Wire: a pattern that is missing where it is needed is a bad request. */
function readPattern(text: string, refuse: (message: string) => Error = badRequest): string {
  const pattern = text.trim()
  if (pattern === '') throw refuse('name_pattern are empty')
  const fault = faultInTagPattern(pattern)
  if (fault !== undefined) throw invalid(fault, 'name_pattern')
  return pattern
}

async function refusingTaken<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (violatedConstraint(error) === 'tag_protections_pattern_key') throw forbidden('Tag protection already exist')
    throw error
  }
}

async function findLists(context: Context, subject: Subject, option: EditTagProtectionOption) {
  const { whitelist_usernames: people, whitelist_teams: teams } = option
  return {
    people: people && (await findListedPeople(context, subject, { names: people, level: 'write' })),
    teams: teams && (await findListedTeams(context, subject, teams)),
  }
}
