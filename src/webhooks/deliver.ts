import type { HookRow } from '../../db/schema/hooks.ts'
import type { Context } from '../context.ts'
import type { EventKind, StoredEvent } from '../events/catalogue.ts'
import { type Reaction, reaction } from '../events/reaction.ts'
import { hookCatalogue, hookKinds } from './catalogue.ts'
import { insertDeliveries, type NewDelivery } from './deliveries.ts'
import { findListeners, isWanted } from './match.ts'
import { formatBody } from './messages/format.ts'
import type { News } from './news.ts'

/** Queues that repositories share: what happens in one of them is sent in its order. */
const QUEUES = 16

/** Writes a delivery for each hook that is for an event. */
export const hookDeliveryReaction: Reaction = reaction({
  name: 'webhooks.deliver',
  kinds: hookKinds,
  queueOf: ({ repositoryId }) => `webhooks:${(repositoryId ?? 0) % QUEUES}`,
  react: deliverEvent,
})

async function deliverEvent(context: Context, event: StoredEvent): Promise<void> {
  const { db } = context
  const places = placesOf(event)
  const listeners = new Map(
    await Promise.all(places.map(async (place) => [place.key, await findListeners(db, place)] as const)),
  )
  if ([...listeners.values()].every((hooks) => hooks.length === 0)) return
  const allNews = await readNews(context, event)
  const deliveries: NewDelivery[] = []
  for (const news of allNews) {
    const hooks = listeners.get(news.listenersOf ?? 'here') ?? []
    for (const hook of hooks) deliveries.push(...deliveryOf(hook, { news, eventId: event.id }))
  }
  // Each hook counts its own: a hook that is made between two attempts changes no number of another.
  const numbered = [...Map.groupBy(deliveries, ({ hookId }) => hookId).values()].flatMap((own) =>
    own.map((delivery, part) => ({ ...delivery, part })),
  )
  await db.transaction(async (tx) => {
    await insertDeliveries(tx, numbered)
  })
}

const readNews = <Kind extends EventKind>(context: Context, event: StoredEvent<Kind>): Promise<News[]> =>
  hookCatalogue[event.kind](context, event)

interface Place {
  key: number | 'here'
  repositoryId: number | null
  ownerId: number | null
}

/** Where the event happened, and for a fork also the repository that it was made from. */
function placesOf(event: StoredEvent): Place[] {
  const here: Place = { key: 'here', repositoryId: event.repositoryId, ownerId: event.ownerId }
  if (event.kind !== 'repository.forked') return [here]
  const { forkedFromId, forkedFromOwnerId: ownerId = null } = event.payload
  return [{ key: forkedFromId, repositoryId: forkedFromId, ownerId }, here]
}

function deliveryOf(
  hook: HookRow,
  { news: { event, subject, ref }, eventId }: { news: News; eventId: number },
): NewDelivery[] {
  if (!isWanted(hook, event.type, ref)) return []
  const body = formatBody(hook.type, event, hook.settings)
  if (body === undefined) return []
  return [{ hookId: hook.id, eventId, part: 0, eventType: event.type, subject, payload: JSON.stringify(body, null, 2) }]
}
