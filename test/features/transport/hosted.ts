import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { asc, eq } from 'drizzle-orm'
import { type RefRow, refs } from '../../../db/schema/refs.ts'
import {
  type RepositoryCountersRow,
  type RepositoryRow,
  repositories,
  repositoryCounters,
} from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { Context } from '../../../src/context.ts'
import type { GitClient } from '../../harness/git.ts'
import type { TestService, TestUser } from '../../harness/service.ts'

/** A repository made below the API, so that these tests stand on Git and the transport alone. */
export interface Hosted {
  id: number
  name: string
  /** Without credentials. */
  url: string
  /** With a person's credentials inside. */
  as(user: TestUser): string
  row(): Promise<RepositoryRow & RepositoryCountersRow>
  refRows(): Promise<RefRow[]>
  /** What the rows say, as `branch main <sha>`. */
  rowLines(): Promise<string[]>
  /** The same from the refs on disk. */
  diskLines(): Promise<string[]>
}

let counter = 0

export async function hostRepository(
  service: TestService,
  owner: TestUser,
  option: Partial<typeof repositories.$inferInsert> = {},
): Promise<Hosted> {
  counter += 1
  const name = option.name ?? `hosted${counter}`
  const { db } = service.context
  const [account] = await db.select().from(users).where(eq(users.lowerName, owner.name.toLowerCase()))
  if (!account) throw new Error('no such owner')
  const [row] = await db
    .insert(repositories)
    .values({ ownerId: account.id, name, ...option })
    .returning()
  if (!row) throw new Error('no row')
  const { objectFormat, defaultBranch } = row
  await service.context.git.createRepository(row.id, { objectFormat, defaultBranch })
  return hosted(service.context, { id: row.id, name, url: `${service.url}/${owner.name}/${name}.git` })
}

function hosted(context: Context, { id, name, url }: { id: number; name: string; url: string }): Hosted {
  const { db, git } = context
  const refRows = () => db.select().from(refs).where(eq(refs.repositoryId, id)).orderBy(asc(refs.kind), asc(refs.name))
  return {
    id,
    name,
    url,
    refRows,
    as(user) {
      const signed = new URL(url)
      signed.username = user.name
      signed.password = user.token
      return signed.href
    },
    async row() {
      const [found] = await db
        .select({ row: repositories, counters: repositoryCounters })
        .from(repositories)
        .innerJoin(repositoryCounters, eq(repositoryCounters.repositoryId, repositories.id))
        .where(eq(repositories.id, id))
      if (!found) throw new Error('the repository is gone')
      return { ...found.row, ...found.counters }
    },
    rowLines: async () => (await refRows()).map(({ kind, name, sha }) => `${kind} ${name} ${sha}`).sort(),
    async diskLines() {
      const all = await git.listRefs(id)
      return all
        .map(({ name, sha }) => `${name.replace('refs/heads/', 'branch ').replace('refs/tags/', 'tag ')} ${sha}`)
        .sort()
    },
  }
}

let works = 0

/** A fresh work tree with one commit on `main`. Returns its folder. */
export async function workTree(
  git: GitClient,
  files: Record<string, string | Uint8Array> = { 'README.md': 'hello\n' },
) {
  works += 1
  const cwd = join(git.folder, `work${works}`)
  mkdirSync(cwd)
  await git(['init', '-q'], { cwd })
  await commit(git, cwd, files)
  return cwd
}

/** Writes files and commits them. Returns the commit. */
export async function commit(git: GitClient, cwd: string, files: Record<string, string | Uint8Array>): Promise<string> {
  for (const [path, content] of Object.entries(files)) await Bun.write(join(cwd, path), content)
  await git(['add', '-A'], { cwd })
  await git(['commit', '-q', '-m', `change ${Object.keys(files).join(' ')}`], { cwd })
  return git(['rev-parse', 'HEAD'], { cwd })
}
