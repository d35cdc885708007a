import { decideRights, judge, maySeeOwner, type RepositoryQuestion, type UnitRule } from '../access/decide.ts'
import { findRepository, type LoadedRepository } from '../access/load.ts'
import { findAccount } from '../access/load-account.ts'
import { addressesOf, type RepositoryAccess } from '../access/repository-access.ts'
import { Level } from '../access/units.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { forbidden, locked, notFound, type Refusal } from '../kernel/errors.ts'
import { changes, chosenOnly } from './admission.ts'
import { movedTo } from './moved.ts'

interface Path {
  request: Request
  owner: string
  name: string
}

export type ChangeRule = Omit<RepositoryQuestion, 'isChange'> & {
  /** For those only who may set programs that run on the server. */
  gitHooks?: boolean
}

/**
 * Also for what readers keep for themselves, such as a star: that goes on while the repository is archived.
 * @throws Refusal 404 in the same words for what does not exist, what is hidden and a unit that is off; 301 or 307 to a new name.
 */
export const repositoryForReading = (
  context: Context,
  actor: Actor | undefined,
  path: Path,
  unit: UnitRule,
): Promise<RepositoryAccess> => admitted(context, actor, path, { unit, level: 'read', evenArchived: true })

/** @throws Refusal as `repositoryForReading`, 403 when the caller sees the repository but lacks the level, 423 while it is archived. */
export async function repositoryForChange(
  context: Context,
  actor: Actor,
  path: Path,
  { gitHooks, ...question }: ChangeRule,
): Promise<RepositoryAccess> {
  const repo = await admitted(context, actor, path, question)
  if (gitHooks && !maySetGitHooks(context, actor)) throw forbidden('must be allowed to edit Git hooks')
  return repo
}

async function admitted(
  context: Context,
  actor: Actor | undefined,
  path: Path,
  question: Omit<RepositoryQuestion, 'isChange'>,
): Promise<RepositoryAccess> {
  const repo = await visibleRepository(context, actor, path)
  switch (judge(actor, repo, { ...question, isChange: changes(path.request.method) })) {
    case 'granted':
      return repo
    case 'hidden':
      throw notFound()
    case 'not-chosen':
      throw chosenOnly()
    case 'lacking':
      throw forbidden(lacking[question.level])
    case 'archived':
      throw locked(`${repo.fullName} is archived`)
  }
}

/** What is said to those who see the repository and lack the level. */
export const lacking: Record<RepositoryQuestion['level'], string> = {
  read: 'user should have a permission to read from a repo',
  write: 'user should have a permission to write to a repo',
  admin: 'user should be an owner or a collaborator with admin write of a repository',
  owner: 'user should be the owner of the repo',
}

/** Wire: where hooks are switched off for the site, nobody may. */
const maySetGitHooks = ({ config }: Context, { user }: Actor): boolean =>
  config.enableGitHooks && (user.isAdmin || user.allowGitHook)

/** Two statements for all that is not there for the caller, be it unknown or hidden: time must not tell them apart. */
async function visibleRepository(context: Context, actor: Actor | undefined, path: Path): Promise<RepositoryAccess> {
  const found = await findRepository(context.db, path, actor?.user.id)
  const access = found && withRights(context, actor, found)
  if (access && access.rights.highest >= Level.read) {
    if (found.isMoved) throw movedRefusal(path, access, found)
    return access
  }
  if (await isOwnerVisible(context, actor, path.owner)) throw notFound()
  // Wire: of a repository under an unknown owner the Gitea API names the owner. A hidden owner must not read differently.
  throw notFound('GetUserByName', [`user redirect does not exist [name: ${path.owner}]`])
}

/** Judges a loaded repository for one reader: for rules that come to it by another way than a path. */
export function withRights(context: Context, actor: Actor | undefined, loaded: LoadedRepository): RepositoryAccess {
  const fullName = `${loaded.owner.name}/${loaded.repository.name}`
  return {
    ...loaded,
    rights: decideRights(context.config, actor, loaded),
    fullName,
    ...addressesOf(context.baseUrl, fullName),
  }
}

/**
 * An old name leads on only for those who may see where it leads. Wire: 307 for an owner who has another name, 301 for a repository that has
 * another name or another owner.
 */
function movedRefusal(
  { request, ...path }: Path,
  { owner, repository }: RepositoryAccess,
  { isOwnersOldName }: { isOwnersOldName: boolean },
): Refusal {
  const from = [path.owner, path.name]
  return isOwnersOldName && owner.lowerName !== path.owner.toLowerCase()
    ? movedTo(request, { status: 307, from, to: [owner.name, path.name] })
    : movedTo(request, { status: 301, from, to: [owner.name, repository.name] })
}

async function isOwnerVisible(context: Context, actor: Actor | undefined, name: string): Promise<boolean> {
  const owner = await findAccount(context.db, name, actor?.user.id)
  return owner !== undefined && maySeeOwner(context.config, actor, owner.row, owner.isRelated)
}
