import type { Context } from '../../context.ts'
import type { GitAccess, PushAccess } from '../../http/git-gate.ts'
import { notFound } from '../../kernel/errors.ts'
import { openWiki } from '../wikis/folder.ts'
import { findWiki } from '../wikis/store.ts'

/** The folder that a client reads from. @throws Refusal 404 for a wiki without any page */
export async function folderToFetch({ db }: Context, { repo, unit }: GitAccess): Promise<number> {
  const { id } = repo.repository
  if (unit === 'repo.code') return id
  const wiki = await findWiki(db, id)
  if (wiki === undefined) throw notFound('the wiki has no pages yet')
  return wiki
}

/** The folder that a client pushes to. The first push makes that of the wiki. */
export async function folderToPush(context: Context, { repo, unit }: PushAccess): Promise<number> {
  return unit === 'repo.code' ? repo.repository.id : openWiki(context, repo.repository)
}
