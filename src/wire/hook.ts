import { t } from 'elysia'
import type { HookRow } from '../../db/schema/hooks.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'

export type Hook = typeof Hook.static
export const Hook = t.Object(
  {
    id: int64(),
    name: t.String(),
    type: t.String(),
    branch_filter: t.String(),
    config: t.Record(t.String(), t.String()),
    url: t.String({ description: 'As in `config`: user, password and values of the query are hidden' }),
    content_type: t.String({ description: 'As in `config`' }),
    events: t.Array(t.String()),
    authorization_header: t.String({ description: 'Shown to those who may change the hook' }),
    active: t.Boolean(),
    updated_at: t.String({ format: 'date-time' }),
    created_at: t.String({ format: 'date-time' }),
  },
  { $id: 'Hook' },
)

export interface ShownHook {
  hook: HookRow
  /** Opened for this answer; empty where there is none. */
  authorizationHeader: string
}

/**
 * The secret is never shown. Wire: hooks of Slack show every setting, empty ones too. Some servers
 * of the Gitea API show the address and the content type beside `config` too, and their clients read no hook without them.
 */
export function presentHook({ hook, authorizationHeader }: ShownHook): Hook {
  const slack: Record<string, string> =
    hook.type === 'slack' ? { channel: '', username: '', icon_url: '', color: '' } : {}
  return {
    id: hook.id,
    name: hook.name,
    type: hook.type,
    branch_filter: hook.branchFilter,
    config: { ...slack, ...hook.settings, content_type: hook.contentType, url: hook.url },
    url: hook.url,
    content_type: hook.contentType,
    events: hook.events,
    authorization_header: authorizationHeader,
    active: hook.isActive,
    updated_at: wireTime(hook.updatedAt),
    created_at: wireTime(hook.createdAt),
  }
}
