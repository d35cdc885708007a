import { eq } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import { repositories, topics } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { invalid, notFound, Refusal } from '../../kernel/errors.ts'
import type { Page } from '../../kernel/page.ts'

export const MAX_TOPICS = 25
const MAX_LENGTH = 35
const TOPIC = /^[a-z0-9][-.a-z0-9]*$/

const isTopic = (name: string): boolean => name.length <= MAX_LENGTH && TOPIC.test(name)

/** Topics are written small; the same one twice is one. */
const normalised = (names: readonly string[]): string[] => [
  ...new Set(names.map((name) => name.trim().toLowerCase()).filter((name) => name !== '')),
]

/** @throws Refusal 422 naming what cannot be a topic, or for too many */
export async function setTopics(context: Context, repositoryId: number, names: readonly string[]): Promise<void> {
  const wanted = normalised(names)
  requireTopics(wanted)
  await context.db.transaction((tx) => writeTopics({ ...context, db: tx }, repositoryId, () => wanted))
}

/** Nothing changes when it is there already. @throws Refusal 422 naming what cannot be a topic, or for one too many */
export async function addTopic(context: Context, repositoryId: number, name: string): Promise<void> {
  const [wanted] = normalised([name])
  requireTopic(name, wanted)
  await context.db.transaction((tx) =>
    writeTopics({ ...context, db: tx }, repositoryId, (current) => {
      const all = [...new Set([...current, wanted])]
      if (all.length > MAX_TOPICS) throw invalid('Exceeding maximum allowed topics per repo.')
      return all
    }),
  )
}

/** @throws Refusal 404 when the repository does not have it */
export async function removeTopic(context: Context, repositoryId: number, name: string): Promise<void> {
  const [gone] = normalised([name])
  requireTopic(name, gone)
  await context.db.transaction((tx) =>
    writeTopics({ ...context, db: tx }, repositoryId, (current) => {
      if (!current.includes(gone)) throw notFound()
      return current.filter((topic) => topic !== gone)
    }),
  )
}

function requireTopics(names: readonly string[]): void {
  if (names.length > MAX_TOPICS) throw wrongTopics('Exceeding maximum number of topics per repo', null)
  const wrong = names.filter((name) => !isTopic(name))
  if (wrong.length > 0) throw wrongTopics('Topic names are invalid', wrong)
}

function requireTopic(name: string, normal: string | undefined): asserts normal is string {
  if (normal === undefined || !isTopic(normal)) throw wrongTopics('Topic name is invalid', name)
}

/** Wire: what cannot be a topic is named under a key of its own. */
const wrongTopics = (message: string, invalidTopics: string | readonly string[] | null) =>
  new Refusal(422, message, { invalidTopics })

/** Under the lock of the repository's row: two callers who add at once both succeed. */
async function writeTopics(
  { db, clock }: Context,
  id: number,
  change: (current: readonly string[]) => string[],
): Promise<void> {
  const [row] = await db
    .select({ topics: repositories.topics })
    .from(repositories)
    .where(eq(repositories.id, id))
    .for('no key update')
  if (!row) throw notFound()
  const names = change(row.topics).sort()
  if (names.join() === row.topics.join()) return
  const now = clock.now()
  await db.update(repositories).set({ topics: names, updatedAt: now }).where(eq(repositories.id, id))
  const added = names.filter((name) => !row.topics.includes(name))
  if (added.length === 0) return
  await db
    .insert(topics)
    .values(added.map((name) => ({ name, createdAt: now, updatedAt: now })))
    .onConflictDoNothing()
  await db.update(topics).set({ updatedAt: now }).where(anyOf(topics.name, added))
}

/** One page of a repository's topics, by name. */
export const pageOfTopics = ({ topics: all }: { topics: string[] }, { offset, limit }: Page): string[] =>
  [...all].sort().slice(offset, offset + limit)
