import type { Context } from '../context.ts'
import type { EventKind, StoredEvent } from './catalogue.ts'

/** What follows from events: a feature of a higher tier that must not be called by the one where the event happened. */
export interface Reaction {
  /** Stands in jobs that wait in the database, so it is never renamed. */
  name: string
  kinds: ReadonlySet<string>
  /** Reactions of one queue run in the order of their events; undefined for in parallel. */
  queueOf(event: StoredEvent): string | undefined
  /** Whether anything follows from it: whatever does not is no job. */
  concerns(event: StoredEvent): boolean
  react(context: Context, event: StoredEvent, signal: AbortSignal): Promise<void>
  /** The same for several events in their order; without it they are taken one by one. */
  reactToAll?(context: Context, events: readonly StoredEvent[], signal: AbortSignal): Promise<void>
}

interface ReactionOptions<Kind extends EventKind> {
  name: string
  kinds: readonly Kind[]
  queueOf?(event: StoredEvent<Kind>): string | undefined
  /** Where the event itself tells that nothing follows from it; without this, each event of the kinds is a job. */
  concerns?(event: StoredEvent<Kind>): boolean
  /**
   * Runs at least once for each event, in its own job. It writes under the event's id, so that once more changes nothing;
   * subjects may be gone by then, which is not an error.
   */
  react(context: Context, event: StoredEvent<Kind>, signal: AbortSignal): Promise<void>
  /** Where several events cost little more than one. When it fails, each of them is taken alone. */
  reactToAll?(context: Context, events: readonly StoredEvent<Kind>[], signal: AbortSignal): Promise<void>
}

/** Declares a reaction: `event` has the union of the payloads of its kinds. */
export function reaction<Kind extends EventKind>(options: ReactionOptions<Kind>): Reaction {
  const { name, queueOf, concerns, react, reactToAll } = options
  const kinds: ReadonlySet<string> = new Set<string>(options.kinds)
  const isWanted = (event: StoredEvent): event is StoredEvent<Kind> & StoredEvent => kinds.has(event.kind)
  return {
    name,
    kinds,
    queueOf: (event) => (isWanted(event) ? queueOf?.(event) : undefined),
    concerns: (event) => isWanted(event) && (concerns?.(event) ?? true),
    async react(context, event, signal) {
      if (isWanted(event)) await react(context, event, signal)
    },
    ...(reactToAll && {
      reactToAll: (context: Context, events: readonly StoredEvent[], signal: AbortSignal) =>
        reactToAll(context, events.filter(isWanted), signal),
    }),
  }
}
