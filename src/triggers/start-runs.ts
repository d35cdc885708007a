import { eq } from 'drizzle-orm'
import { users } from '../../db/schema/users.ts'
import { findRepositoryById, type LoadedRepository } from '../access/load.ts'
import { hasUnit } from '../access/units.ts'
import { asJson, type JsonRecord, recordOf } from '../actions/workflows/json.ts'
import { asksToSkip, type TriggerEvent } from '../actions/workflows/match.ts'
import type { Context } from '../context.ts'
import type { EventKind, StoredEvent } from '../events/catalogue.ts'
import { type Reaction, reaction } from '../events/reaction.ts'
import { startRuns } from '../features/actions-runs/start.ts'
import { parseRef, type RefName } from '../features/refs/names.ts'
import type { Commit } from '../git/model.ts'
import { hookCatalogue } from '../webhooks/catalogue.ts'
import { showCommon } from '../webhooks/common.ts'
import type { News } from '../webhooks/news.ts'
import { isOfRun, nextInChain } from './chain.ts'
import { changedPaths } from './changed-paths.ts'
import { nameTrigger } from './names.ts'
import { queueOf } from './queue.ts'

const kinds = [
  'push',
  'ref.created',
  'ref.deleted',
  'issue.created',
  'issue.edited',
  'issue.closed',
  'issue.reopened',
  'issue.deleted',
  'issue.assigned',
  'issue.unassigned',
  'issue.milestone_changed',
  'comment.created',
  'comment.edited',
  'comment.deleted',
  'release.published',
  'release.updated',
  'release.deleted',
  'workflow_run.requested',
  'workflow_run.in_progress',
  'workflow_run.completed',
  'workflow_schedule.due',
] as const satisfies readonly EventKind[]
type Kind = (typeof kinds)[number]

/** Starts the workflows of a repository in which something has happened. Their jobs read what hooks are sent. */
export const startRunsOnEvents: Reaction = reaction({
  name: 'actions.start_runs',
  kinds,
  queueOf,
  react,
})

async function react(context: Context, event: StoredEvent<Kind>): Promise<void> {
  const { db } = context
  const loaded = event.repositoryId === null ? undefined : await findRepositoryById(db, event.repositoryId, undefined)
  if (!loaded || loaded.repository.isArchived || !hasUnit(loaded.repository, 'repo.actions')) return
  const { repository, owner } = loaded
  const chain = isOfRun(event) ? await nextInChain(context, event) : undefined
  if (isOfRun(event) && !chain) return
  const place = await findPlace(context, event, loaded)
  if (!place || (event.kind === 'push' && asksToSkip(place.commit.message))) return
  const [actor] = event.actorId === null ? [] : await db.select().from(users).where(eq(users.id, event.actorId))
  for (const { name, payload } of await readTriggers(context, event)) {
    const trigger: TriggerEvent = { ...name, ...(await filtersOf(context, event)) }
    await startRuns(context, {
      ...{ repository, owner, actor, eventId: event.id, event: trigger, payload },
      ...(chain && { chain }),
      ...{
        ref: place.ref,
        sha: place.commit.sha,
        title: titleOf(payload) ?? place.commit.message.split('\n')[0] ?? '',
      },
    })
  }
}

/** What jobs read is what hooks are sent. A schedule is sent to nobody. */
async function readTriggers(
  context: Context,
  event: StoredEvent<Kind>,
): Promise<{ name: Pick<TriggerEvent, 'name' | 'type'>; payload: JsonRecord }[]> {
  if (event.kind === 'workflow_schedule.due') {
    const payload = { schedule: event.payload.cron, ...(await showCommon(context, event)) }
    return [{ name: { name: 'schedule' }, payload: recordOf(asJson(payload)) }]
  }
  const news = await readNews(context, event)
  return news.map(({ event: { type, payload: sent } }) => {
    const payload = recordOf(asJson(sent))
    return { name: nameTrigger(type, payload), payload }
  })
}

const readNews = <One extends EventKind>(context: Context, event: StoredEvent<One>): Promise<News[]> =>
  hookCatalogue[event.kind](context, event)

/** The title of the issue or release that it is about. */
function titleOf(payload: ReturnType<typeof recordOf>): string | undefined {
  const subject = recordOf(payload.issue ?? payload.release)
  const title = subject.title ?? subject.name
  return typeof title === 'string' ? title : undefined
}

interface Place {
  ref: RefName
  commit: Commit
}

/** The commit whose workflows count: of a push and of a new branch its own, of a release that of its tag, else that of the default branch. */
async function findPlace(
  { git }: Context,
  { kind, payload }: StoredEvent<Kind>,
  { repository }: LoadedRepository,
): Promise<Place | undefined> {
  const main: RefName = { kind: 'branch', name: repository.defaultBranch }
  const at = async (ref: RefName, revision: string): Promise<Place | undefined> => {
    const found = await git.find(repository.id, `${revision}^{commit}`)
    return found && { ref, commit: await git.readCommit(repository.id, found.sha) }
  }
  const atMain = () => at(main, `refs/heads/${main.name}`)
  if (kind === 'push' || kind === 'ref.created') {
    const ref = parseRef(payload.ref)
    return ref && at(ref, kind === 'push' ? payload.newSha : payload.sha)
  }
  if (kind === 'release.published' || kind === 'release.updated' || kind === 'release.deleted')
    return (await at({ kind: 'tag', name: payload.tagName }, `refs/tags/${payload.tagName}`)) ?? atMain()
  return atMain()
}

async function filtersOf(
  context: Context,
  event: StoredEvent<Kind>,
): Promise<Pick<TriggerEvent, 'ref' | 'changedPaths' | 'workflow' | 'schedule'>> {
  if (event.kind === 'workflow_schedule.due') return { schedule: event.payload }
  if (isOfRun(event)) return { workflow: event.payload.workflowName, ref: parseRef(event.payload.ref) }
  if (event.kind !== 'push') return {}
  const ref = parseRef(event.payload.ref)
  return { ref, changedPaths: ref?.kind === 'branch' ? await changedPaths(context, event) : undefined }
}
