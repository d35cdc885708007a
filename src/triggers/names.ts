import type { JsonRecord } from '../actions/workflows/json.ts'
import type { TriggerEvent } from '../actions/workflows/match.ts'
import type { HookMessageType } from '../webhooks/messages/payload.ts'

/** What workflows call an event, by the word of hooks and the action in its payload. */
export function nameTrigger(type: HookMessageType, { action }: JsonRecord): Pick<TriggerEvent, 'name' | 'type'> {
  const name = NAMES.get(type) ?? type
  return typeof action === 'string' ? { name, type: ACTIONS.get(`${name}.${action}`) ?? action } : { name }
}

const NAMES: ReadonlyMap<HookMessageType, string> = new Map<HookMessageType, string>([
  ['issue_assign', 'issues'],
  ['issue_label', 'issues'],
  ['issue_milestone', 'issues'],
  ['pull_request_comment', 'issue_comment'],
])

/** Workflows know these by other words than hooks. */
const ACTIONS: ReadonlyMap<string, string> = new Map([
  ['issues.label_updated', 'labeled'],
  ['issues.label_cleared', 'unlabeled'],
  ['release.updated', 'edited'],
])
