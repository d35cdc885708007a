import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { HookType } from '../../db/schema/hooks.ts'
import { formatBody } from '../../src/webhooks/messages/format.ts'
import type { HookMessageEvent } from '../../src/webhooks/messages/payload.ts'

const golden = (name: string) => Bun.file(resolve(import.meta.dir, 'golden', `${name}.json`)).json()
const events: Record<string, HookMessageEvent> = await golden('events')

const settings: Partial<Record<HookType, Record<string, string>>> = {
  slack: { channel: '#chan', username: 'bot', icon_url: 'http://i.example/i.png', color: '#123456' },
  discord: { username: 'dbot', icon_url: 'http://i.example/d.png' },
  packagist: { package_url: 'https://packagist.org/packages/a/b' },
}
const bodyOf = (type: HookType, event: HookMessageEvent) => formatBody(type, event, settings[type] ?? {})

const types = [
  'slack',
  'discord',
  'dingtalk',
  'telegram',
  'msteams',
  'feishu',
  'wechatwork',
  'packagist',
  'matrix',
] as const

/** A change of a format shows in these files, and is looked at there. */
test.each(types)('a hook of type %s is sent what its golden file says, for every kind of event', async (type) => {
  const expected = await golden(type)
  const sent = Object.fromEntries(Object.entries(events).map(([name, event]) => [name, bodyOf(type, event) ?? null]))
  expect(sent).toEqual(expected)
  expect(Object.keys(expected).length).toBeGreaterThan(50)
})

/** Beside the clone, like the recorded scenarios: without that folder this comparison is skipped. */
const recorded = resolve(import.meta.dir, '../../../shared/api/webhooks-samples.json')

/** Where the recorded server is not followed, and why. */
const DIFFERENT: readonly [pattern: RegExp, why: string][] = [
  [/^(?!feishu).*\/(issues|pull_request)\/deleted$/, 'the recorded text is empty'],
  [
    /^(slack\/create|(discord|dingtalk|telegram|msteams)\/(create|delete))\//,
    'links lead to the branch, or nowhere once it is gone',
  ],
  [/^slack\/pull_request_review_(approved|rejected|comment)\//, 'the recorded link is in Markdown'],
  [/^telegram\/(pull_request_review_(approved|rejected|comment)|fork)\//, 'all names are links'],
  [/^(slack|telegram)\/status\//, 'a description is escaped'],
  [/^(slack|discord|dingtalk|telegram)\/wiki\/deleted$/, 'a page that is gone has no link'],
  [/^(slack|msteams)\/repository\/deleted$/, 'a repository that is gone has no link'],
  [/^packagist\/issues\//, 'Packagist is told of pushes alone'],
  [/^msteams\/(issue|pull_request)/, 'numbers instead of database ids'],
  [/^matrix\/create\//, 'links lead to the branch'],
  [/^matrix\/(wiki|repository)\/deleted$/, 'what is gone has no link'],
  [/^matrix\/(status\/|issues\/opened$|push\/branch$)/, 'HTML is escaped, and plain text is not'],
  [/^matrix\/package\//, 'the sentence of all other types'],
  [/^msteams\/wiki\//, 'the recorded fact is there twice'],
]

describe.skipIf(!existsSync(recorded))('beside a recorded server', async () => {
  const samples: Record<string, { body?: unknown }> = existsSync(recorded) ? await Bun.file(recorded).json() : {}
  const names = Object.keys(samples).filter((name) => types.some((type) => name.startsWith(`${type}/`)))

  test.each(names.filter((name) => !name.endsWith('/signed')))('%s', (name) => {
    const [type, ...words] = name.split('/')
    const known = types.find((one) => one === type)
    const event = events[words.join('/')]
    if (known === undefined || event === undefined) throw new Error('there is no such event')
    // Our events know of a commit what messages say of it.
    const short = (key: string, value: unknown) => (key === 'io.gitea.commits' ? undefined : value)
    const text = (value: unknown) =>
      JSON.stringify(value, short).replaceAll(encodeURIComponent('https://git.example'), '{{base-urlencoded}}')
    const sent = text(bodyOf(known, event) ?? null)
      .replaceAll('https://git.example', '{{base}}')
      .replace('View in Hearth', 'View in Gitea')
    const difference = DIFFERENT.find(([pattern]) => pattern.test(name))
    if (difference === undefined) expect(sent).toBe(text(samples[name]?.body))
    else expect(sent).not.toBe(text(samples[name]?.body))
  })
})

const hostile = `</a><script>|>\`*_[x](javascript:1)${'😀'.repeat(4000)}`

test('hostile and endless texts stay texts, within the limits of the receivers', () => {
  const event = structuredClone(events['issues/opened'])
  if (event?.type !== 'issues') throw new Error('there is no such event')
  Object.assign(event.payload.issue, { title: hostile.slice(0, 255), body: hostile })
  const discord = bodyOf('discord', event)
  expect(JSON.stringify(discord)).not.toMatch(/\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])/i)
  expect(discord).toMatchObject({ embeds: [{ title: expect.stringMatching(/^.{1,256}$/su) }] })
  const telegram = bodyOf('telegram', event)
  const { text } = Object(telegram)
  expect(String(text)).not.toContain('<script>')
  expect(String(text).replace(/<[^>]*>/g, '').length).toBeLessThanOrEqual(4096)
  expect(String(Object(bodyOf('matrix', event)).formatted_body)).not.toContain('<script>')
  const slack = Object(bodyOf('slack', event))
  expect(String(slack.text)).not.toContain('<script>')
})

test('people are not told of a push that brings no commits', () => {
  const event = events['push/no_commits']
  if (event === undefined) throw new Error('there is no such event')
  expect(types.filter((type) => bodyOf(type, event) !== undefined)).toEqual(['packagist'])
})
