import type { HookType } from '../../../db/schema/hooks.ts'
import { describe } from './describe.ts'
import { dingtalkBody } from './dingtalk.ts'
import { discordBody } from './discord.ts'
import { feishuBody } from './feishu.ts'
import { matrixBody } from './matrix.ts'
import { msteamsBody } from './msteams.ts'
import type { HookMessageEvent } from './payload.ts'
import { slackBody } from './slack.ts'
import { telegramBody } from './telegram.ts'
import { wechatworkBody } from './wechatwork.ts'

/**
 * What a hook of this type is sent for an event, before it is written as JSON. Undefined: this type is not sent for it. Types that people read
 * are not sent pushes without commits, Packagist of nothing but pushes.
 * @param settings what the hook has beside its address
 */
export function formatBody(
  type: HookType,
  event: HookMessageEvent,
  settings: Readonly<Record<string, string>>,
): unknown {
  if (type === 'gitea' || type === 'gogs') return event.payload
  if (type === 'packagist') {
    return event.type === 'push' ? { repository: { url: settings.package_url ?? '' } } : undefined
  }
  const message = describe(event)
  if (message === undefined) return undefined
  switch (type) {
    case 'slack':
      return slackBody(message, settings)
    case 'discord':
      return discordBody(message, settings)
    case 'dingtalk':
      return dingtalkBody(message)
    case 'telegram':
      return telegramBody(message)
    case 'msteams':
      return msteamsBody(message)
    case 'feishu':
      return feishuBody(message)
    case 'wechatwork':
      return wechatworkBody(message)
    case 'matrix':
      return matrixBody(message)
  }
}
