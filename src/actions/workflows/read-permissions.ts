import { isRecord, type Json } from './json.ts'
import type { PermissionLevel, Permissions } from './model.ts'
import { permissionNames } from './schema.ts'

const LEVELS: readonly PermissionLevel[] = ['none', 'read', 'write']

/** Undefined where nothing is said: then the repository's default holds. */
export function readPermissions(value: Json | undefined): Permissions | undefined {
  if (value === undefined || value === null) return undefined
  if (value === 'read-all') return everything('read')
  if (value === 'write-all') return everything('write')
  if (!isRecord(value)) return {}
  return Object.fromEntries(Object.entries(value).map(([name, level]) => [name, levelOf(level)]))
}

const everything = (level: PermissionLevel): Permissions =>
  Object.fromEntries(permissionNames().map((name) => [name, level]))

const levelOf = (value: Json): PermissionLevel => LEVELS.find((level) => level === value) ?? 'none'

/** What a called workflow may do: never more than its caller. */
export function limitPermissions(
  own: Permissions | undefined,
  ceiling: Permissions | undefined,
): Permissions | undefined {
  if (own === undefined || ceiling === undefined) return own ?? ceiling
  const lower = (name: string, level: PermissionLevel): PermissionLevel => {
    const most = ceiling[name] ?? 'none'
    return LEVELS.indexOf(level) < LEVELS.indexOf(most) ? level : most
  }
  return Object.fromEntries(Object.entries(own).map(([name, level]) => [name, lower(name, level)]))
}
