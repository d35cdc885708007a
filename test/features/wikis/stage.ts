import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { wikis } from '../../../db/schema/wikis.ts'
import type { Answer } from '../../harness/client.ts'
import type { TestRepository, TestService, TestUser } from '../../harness/service.ts'

export const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** As the owner creates it. */
export const addPage = (owner: TestUser, repo: TestRepository, title: string, text = 'text'): Promise<Answer> =>
  owner.client.post(`${repo.path}/wiki/new`, { title, content_base64: base64(text) })

export const wikiUrlOf = ({ cloneUrl }: TestRepository): string => cloneUrl.replace(/\.git$/, '.wiki.git')

/** The same for another person, or for nobody. */
export function wikiUrlAs({ url }: TestService, repo: TestRepository, user?: TestUser): string {
  const address = new URL(`/${repo.owner}/${repo.name}.wiki.git`, url)
  if (user) Object.assign(address, { username: user.name, password: user.token })
  return address.href
}

/** Undefined where there is none. */
export async function folderIdOf({ context }: TestService, repositoryId: number): Promise<number | undefined> {
  const [row] = await context.db.select().from(wikis).where(eq(wikis.repositoryId, repositoryId))
  return row?.folderId
}

/** A folder with one commit on `branch`, to be pushed. */
export async function workTree({ git }: TestService, files: Record<string, string>, branch = 'main'): Promise<string> {
  const cwd = join(git.folder, crypto.randomUUID())
  await git(['init', '-q', '-b', branch, cwd])
  for (const [name, text] of Object.entries(files)) await Bun.write(join(cwd, name), text)
  await git(['add', '-A'], { cwd })
  await git(['commit', '-qm', 'pages'], { cwd })
  return cwd
}
