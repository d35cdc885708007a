import { violatedConstraint } from '../../../db/violations.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import type { EventPayload } from '../../events/catalogue.ts'
import { releaseFacts } from '../../events/release-facts.ts'
import { isValidTagName } from '../../git/names.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { listAttachments } from '../attachments/store.ts'
import { mayChangeTag } from '../protections/decide.ts'
import { loadGuard } from '../protections/guard.ts'
import { requireOwnRefs } from '../refs/change.ts'
import { makeTag, type Subject } from '../tags/service.ts'
import { findTag } from '../tags/store.ts'
import type { CreateReleaseOption, EditReleaseOption } from './schema.ts'
import {
  findRelease,
  holdTag,
  insertRelease,
  type LoadedRelease,
  lockRelease,
  type ReleaseFilter,
  removeRelease,
  updateRelease,
} from './store.ts'

/** Drafts are for those who may write releases. */
export const seesDrafts = ({ rights }: RepositoryAccess): boolean => rights.level('repo.releases') >= Level.write

type Wanted = { id: number | undefined } | { tagName: string } | { isPrerelease: false }

/** @throws Refusal 404, also for a draft that the caller may not see */
export async function getRelease(context: Context, repo: RepositoryAccess, wanted: Wanted): Promise<LoadedRelease> {
  const found = await findReadableRelease(context, repo, wanted)
  if (!found) throw notFound()
  return found
}

/** Undefined also for a draft that the caller may not see. */
export async function findReadableRelease(
  { db }: Context,
  repo: RepositoryAccess,
  wanted: Wanted,
): Promise<LoadedRelease | undefined> {
  if ('id' in wanted && wanted.id === undefined) return undefined
  const isLatest = 'isPrerelease' in wanted
  const filter: ReleaseFilter = {
    repositoryId: repo.repository.id,
    ...('id' in wanted ? { id: wanted.id ?? 0 } : wanted),
    ...((isLatest || !seesDrafts(repo)) && { isDraft: false }),
  }
  return findRelease(db, filter)
}

/** @throws Refusal 404 for an unknown target, 409 when the tag has a release, 422 for a name that cannot be, a protected tag and without commits */
export async function createRelease(
  context: Context,
  subject: Subject,
  option: CreateReleaseOption,
): Promise<LoadedRelease> {
  const { actor, repo } = subject
  const { repository } = repo
  const { tag_name: tagName, draft: isDraft = false } = option
  if (repository.isEmpty) throw invalid('repo is empty')
  if (!isValidTagName(tagName)) throw invalid('GitRefName', 'tag_name')
  if (await findRelease(context.db, { repositoryId: repository.id, tagName })) throw taken()
  const isMade = (await findTag(context.db, repository.id, tagName)) === undefined
  const target = option.target_commitish || (isMade ? repository.defaultBranch : '')
  const wanted = { tagName, target, tagMessage: option.tag_message ?? '' }
  await (isDraft ? requireTarget(context, repo, wanted) : ensureTag(context, subject, wanted))
  const row = await refusingTaken(() =>
    context.db.transaction(async (tx) => {
      if (!isDraft && !(await holdTag(tx, repository.id, tagName))) throw conflict('the tag has gone meanwhile')
      const made = await insertRelease(tx, {
        repositoryId: repository.id,
        ...wanted,
        title: option.name ?? '',
        body: option.body ?? '',
        isDraft,
        isPrerelease: option.prerelease ?? false,
        authorId: actor.user.id,
        createdAt: context.clock.now(),
        publishedAt: isDraft ? null : context.clock.now(),
      })
      if (!isDraft) await appendEvent(tx, eventOf(subject, 'release.published', releaseFacts(made, [])))
      return made
    }),
  )
  return getRelease(context, repo, { id: row.id })
}

/**
 * Wire: empty texts change nothing.
 * @throws Refusal 404, 409 when the new tag has a release, 422 as `createRelease`
 */
export async function editRelease(
  context: Context,
  subject: Subject,
  { id, option }: { id: number | undefined; option: EditReleaseOption },
): Promise<LoadedRelease> {
  const { repository } = subject.repo
  const before = await getRelease(context, subject.repo, { id })
  const place = { repositoryId: repository.id, id: before.release.id }
  const { tag_name, target_commitish, name, body, draft, prerelease } = option
  const tagName = tag_name || before.release.tagName
  const target = target_commitish || before.release.target
  const isDraft = draft ?? before.release.isDraft
  if (!isValidTagName(tagName)) throw invalid('GitRefName', 'tag_name')
  if (tagName !== before.release.tagName && (await findRelease(context.db, { repositoryId: repository.id, tagName })))
    throw taken()
  if (!isDraft) await ensureTag(context, subject, { tagName, target, tagMessage: before.release.tagMessage })
  await refusingTaken(() =>
    context.db.transaction(async (tx) => {
      const locked = await lockRelease(tx, place)
      if (!locked) throw notFound()
      if (!isDraft && !(await holdTag(tx, repository.id, tagName))) throw conflict('the tag has gone meanwhile')
      const isFirst = !isDraft && locked.publishedAt === null
      const row = await updateRelease(tx, place, {
        tagName,
        target,
        title: name || undefined,
        body: body || undefined,
        isPrerelease: prerelease,
        isDraft,
        ...(isFirst && { publishedAt: context.clock.now() }),
      })
      if (!row || isDraft) return
      const facts = releaseFacts(row, await listAttachments(tx, { repositoryId: repository.id, releaseId: row.id }))
      await appendEvent(tx, eventOf(subject, isFirst ? 'release.published' : 'release.updated', facts))
    }),
  )
  return getRelease(context, subject.repo, { id })
}

/** The tag stays; files go soon after. @throws Refusal 404 */
export async function deleteRelease(
  context: Context,
  subject: Subject,
  wanted: { id: number | undefined } | { tagName: string },
): Promise<void> {
  const { id } = (await getRelease(context, subject.repo, wanted)).release
  const repositoryId = subject.repo.repository.id
  await context.db.transaction(async (tx) => {
    const assets = await listAttachments(tx, { repositoryId, releaseId: id })
    const row = await removeRelease(tx, { repositoryId, id })
    if (!row) throw notFound()
    if (!row.isDraft) await appendEvent(tx, eventOf(subject, 'release.deleted', releaseFacts(row, assets)))
  })
}

interface WantedTag {
  tagName: string
  target: string
  tagMessage: string
}

/** @throws Refusal 403 for a new tag of a mirror, 404 for an unknown target, 422 for a protected tag */
async function ensureTag(
  context: Context,
  subject: Subject,
  { tagName, target, tagMessage }: WantedTag,
): Promise<void> {
  const { repository } = subject.repo
  if (await findTag(context.db, repository.id, tagName)) return
  requireOwnRefs(subject.repo)
  const { tagRules, mover } = await loadGuard(context, { actor: subject.actor, repository })
  if (!mayChangeTag(tagRules, mover, tagName)) throw invalid(`release tag name is protected [tag_name: ${tagName}]`)
  const sha = await requireTarget(context, subject.repo, { tagName, target, tagMessage })
  await makeTag(context, subject, { name: tagName, target: sha, message: tagMessage })
}

async function requireTarget(
  { git }: Context,
  { repository }: RepositoryAccess,
  { target }: WantedTag,
): Promise<string> {
  const name = target || repository.defaultBranch
  const sha = await git.findCommit(repository.id, name)
  if (sha === undefined) throw notFound(`target "${name}" not found: object does not exist [id: ${name}, rel_path: ]`)
  return sha
}

const taken = () => conflict('the tag has a release already')

async function refusingTaken<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (violatedConstraint(error) === 'releases_tag_key') throw taken()
    throw error
  }
}

function eventOf(
  { actor, repo: { repository } }: Subject,
  kind: 'release.published' | 'release.updated' | 'release.deleted',
  payload: EventPayload<'release.published'>,
) {
  const { id: repositoryId, ownerId } = repository
  return { kind, actorId: actor.user.id, repositoryId, ownerId, payload }
}
