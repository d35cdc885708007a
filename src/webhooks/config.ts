import type { HookRow, HookType } from '../../db/schema/hooks.ts'
import { hookTypes } from '../../db/schema/hooks.ts'
import { badRequest, invalid } from '../kernel/errors.ts'
import { GlobError, parseGlob } from '../kernel/glob.ts'

const MAX_VALUE_LENGTH = 2048
const contentTypes = ['json', 'form'] as const
const methods = ['POST', 'PUT', 'GET'] as const

/** What `config` says, checked. Fields are undefined where it says nothing. */
export interface HookConfig {
  url?: string
  contentType?: HookRow['contentType']
  httpMethod?: HookRow['httpMethod']
  /** Empty: to be removed. */
  secret?: string
  settings?: Record<string, string>
  /** Wire: distinguishes hooks of the whole site from those for new repositories. */
  isSystem: boolean
}

/** @throws Refusal 422 */
export function requireHookType(type: string): HookType {
  const known = hookTypes.find((one) => one === type)
  if (known === undefined) throw invalid(`Invalid hook type: ${type.slice(0, 50)}`)
  return known
}

/** @throws Refusal 422 for what cannot be used, 400 for a Slack channel that is none */
export function readConfig(type: HookType, config: Readonly<Record<string, string>>): HookConfig {
  for (const [key, value] of Object.entries(config)) requirePlain(value, `config.${key}`, MAX_VALUE_LENGTH)
  return {
    url: config.url === undefined ? undefined : requireUrl(config.url),
    contentType: config.content_type === undefined ? undefined : requireContentType(config.content_type),
    httpMethod: config.http_method === undefined ? undefined : requireMethod(config.http_method),
    secret: config.secret,
    settings: readSettings(type, config),
    isSystem: config.is_system_webhook === 'true',
  }
}

/** As `readConfig` for a new hook, which needs an address, a content type and, for Slack, a channel. @throws Refusal as `readConfig` */
export function readNewConfig(type: HookType, config: Readonly<Record<string, string>>) {
  for (const key of ['url', 'content_type', ...(type === 'slack' ? ['channel'] : [])])
    if (config[key] === undefined) throw invalid(`Missing config option: ${key}`)
  const read = readConfig(type, config)
  if (read.url === undefined || read.contentType === undefined) throw invalid('Missing config option: url')
  return { ...read, url: read.url, contentType: read.contentType }
}

/** Line breaks would end a header and begin another one. @throws Refusal 422 */
function requirePlain(text: string, field: string, maxLength: number): void {
  if (text.length > maxLength) throw invalid('MaxSize', field)
  if (/[\r\n\0]/.test(text)) throw invalid('must not hold line breaks', field)
}

/** Characters that a header may hold (RFC 9110, 5.5): another one would let no request be made. @throws Refusal 422 */
export function requireHeaderValue(text: string, field: string, maxLength: number): void {
  requirePlain(text, field, maxLength)
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) throw invalid('holds characters that no header may hold', field)
}

/** @throws Refusal 422 */
export function requireBranchFilter(pattern: string): string {
  try {
    parseGlob(pattern)
    return pattern
  } catch (error) {
    throw error instanceof GlobError ? invalid(error.message, 'branch_filter') : error
  }
}

function requireUrl(text: string): string {
  const isAddress = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text) && new URL(text).hostname !== ''
  if (!isAddress) throw invalid('Invalid url')
  return text
}

function requireContentType(text: string): HookRow['contentType'] {
  const known = contentTypes.find((one) => one === text)
  if (known === undefined) throw invalid('Invalid content type')
  return known
}

function requireMethod(text: string): HookRow['httpMethod'] {
  const known = methods.find((one) => one === text.toUpperCase())
  if (known === undefined) throw invalid('Invalid http method')
  return known
}

/** What a type needs beside the address. Discord and Packagist take theirs from `config` too, which only their forms could set once. */
const SETTINGS: Partial<Record<HookType, readonly string[]>> = {
  slack: ['channel', 'username', 'icon_url', 'color'],
  discord: ['username', 'icon_url'],
  packagist: ['package_url'],
}

function readSettings(type: HookType, config: Readonly<Record<string, string>>): Record<string, string> | undefined {
  const keys = SETTINGS[type]
  if (keys === undefined) return undefined
  // Wire: 400 where everything else is 422.
  if (type === 'slack' && config.channel !== undefined && !/^[#@]?[a-z0-9_-]{1,80}$/i.test(config.channel.trim()))
    throw badRequest('Invalid slack channel name')
  if (config.package_url !== undefined && type === 'packagist') requireUrl(config.package_url)
  const given = keys.flatMap((key): [string, string][] => {
    const value = config[key]
    return value === undefined ? [] : [[key, key === 'channel' ? value.trim() : value]]
  })
  return Object.fromEntries(given)
}
