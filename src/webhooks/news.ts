import type { HookMessageEvent } from './messages/payload.ts'

/** One message to hooks about an event. */
export interface News {
  event: HookMessageEvent
  /** What deliveries about the same thing keep their order by. */
  subject: string
  /** In full, where a branch filter asks for it. */
  ref?: string
  /** The repository whose hooks, and its owner's, are notified; without it the event's own. */
  listenersOf?: number
}
