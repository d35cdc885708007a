import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { createKeyedMutex } from '../../kernel/keyed-mutex.ts'
import { BRANCHES } from '../refs/names.ts'
import { lockRepository } from '../refs/store.ts'
import { buildRepository } from '../repository-creation/reserved.ts'
import { findWiki, insertWiki } from './store.ts'

/** Wire: what a wiki's branch is called, as long as nobody pushes another one. */
export const WIKI_BRANCH = 'main'
/** What others call it. */
const USUAL = [WIKI_BRANCH, 'master']

/** Those who make the same wiki wait here, where they hold no connection. */
const mutex = createKeyedMutex<number>()

/**
 * The folder of the wiki, which is made if there is none: whole or not at all, as a repository is.
 * @throws Refusal 404 when the repository has gone meanwhile
 */
export function openWiki(context: Context, repository: Pick<RepositoryRow, 'id' | 'objectFormat'>): Promise<number> {
  return mutex.run(repository.id, async () => {
    const found = await findWiki(context.db, repository.id)
    if (found !== undefined) return found
    try {
      return await buildWiki(context, repository.id, async (id) => {
        await context.git.createRepository(id, { objectFormat: repository.objectFormat, defaultBranch: WIKI_BRANCH })
      })
    } catch (error) {
      // Another replica was quicker.
      const other = violatedConstraint(error) === 'wikis_pkey' ? await findWiki(context.db, repository.id) : undefined
      if (other === undefined) throw error
      return other
    }
  })
}

/**
 * Makes the folder of a wiki, and the row with which it is there.
 * @throws Refusal 404 when the repository has gone; the violated constraint `wikis_pkey` when it has a wiki
 */
export function buildWiki(
  context: Context,
  repositoryId: number,
  buildFolder: (id: number) => Promise<void>,
): Promise<number> {
  return buildRepository(context, {
    buildFolder,
    async insertRows(tx, id) {
      if (!(await lockRepository(tx, repositoryId))) throw notFound()
      await insertWiki(tx, { repositoryId, folderId: id, updatedAt: context.clock.now() })
    },
  })
}

/**
 * The branch that has the pages: the one that HEAD names. A wiki that was begun by the push of another branch is made to name that
 * one, so that a clone of it has files too.
 */
export async function settleBranch({ git }: Pick<Context, 'git'>, folderId: number): Promise<string> {
  const head = (await git.getHead(folderId)).replace(BRANCHES, '')
  if (await git.findBranch(folderId, head)) return head
  const [first] = await git.listRefs(folderId, { prefix: BRANCHES, limit: 1 })
  if (!first) return head
  const held = await Promise.all(USUAL.map((name) => git.findBranch(folderId, name)))
  const branch = USUAL.find((_, index) => held[index] !== undefined) ?? first.name.replace(BRANCHES, '')
  await git.setHead(folderId, branch)
  return branch
}
