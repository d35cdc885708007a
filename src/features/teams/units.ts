import { type PermissionWord, permissionWords, type TeamRow } from '../../../db/schema/organizations.ts'
import { units as everyUnit, higher, isUnit, Level, levelWord } from '../../access/units.ts'
import { invalid } from '../../kernel/errors.ts'
import type { UnitMap } from './store.ts'

/** What a request says of a team's rights. */
export interface WantedRights {
  permission?: '' | 'none' | 'read' | 'write' | 'admin' | 'owner'
  units?: readonly string[]
  units_map?: Readonly<Record<string, string>>
}

/** `permission` as it is stored: `none` where the units decide. */
export interface TeamRights {
  permission: TeamRow['permission']
  units: UnitMap
}

/**
 * The rights of a new team, or of a changed one (`before`). Wire: the order of the Gitea API: `admin` reaches everything and needs no
 * units; else `units_map` goes before `units`, which all get the permission's word.
 * @throws Refusal 422 for a team that would reach nothing or own the organization, for unknown units and words
 */
export function readRights(wanted: WantedRights, before?: TeamRights): TeamRights {
  if (wanted.permission === 'owner') throw invalid('an organization has one team of owners', 'permission')
  const given = readUnits(wanted, before)
  if (wanted.permission === 'admin') return { permission: 'admin', units: {} }
  const stays = wanted.permission === undefined || wanted.permission === ''
  if (stays && before?.permission === 'admin') return before
  const units = given ?? (stays ? before?.units : repeated(wanted, before))
  if (units === undefined || Object.keys(units).length === 0) throw invalid('units permission should not be empty')
  return { permission: 'none', units }
}

/**
 * Whether a request says of the owners what they have, or nothing. Wire: clients that write back what they read cannot leave
 * the rights out, and some know no word for the owners' but `admin`.
 */
export function leavesOwners({ permission, units = [], units_map: map = {} }: WantedRights): boolean {
  return (
    (!permission || reachesAll(permission)) &&
    (units.length === 0 || everyUnit.every((unit) => units.includes(unit))) &&
    Object.entries(map).every(([unit, word]) => isUnit(unit) && reachesAll(word))
  )
}

const reachesAll = (word: string): boolean => word === 'owner' || word === 'admin'

function readUnits({ units_map: map, units, permission }: WantedRights, before?: TeamRights): UnitMap | undefined {
  if (map !== undefined && Object.keys(map).length > 0)
    return Object.fromEntries(Object.entries(map).map(([unit, word]) => [requireUnit(unit), requireWord(word)]))
  if (units === undefined || units.length === 0) return undefined
  const word = permission === 'write' || permission === 'none' ? permission : permission ? 'read' : highestOf(before)
  return Object.fromEntries(units.map((unit) => [requireUnit(unit), word]))
}

/** Another word for the units that the team has. */
function repeated({ permission }: WantedRights, before: TeamRights | undefined): UnitMap | undefined {
  if (before === undefined || before.permission !== 'none') return undefined
  const word = permission === 'write' || permission === 'none' ? permission : 'read'
  return Object.fromEntries(Object.keys(before.units).map((unit) => [unit, word]))
}

/** What units get that are named without a word: what the team has elsewhere. */
function highestOf(before: TeamRights | undefined): PermissionWord {
  const words = Object.values(before?.units ?? {})
  const highest = words.reduce<Level>((best, word) => higher(best, Level[word ?? 'none']), Level.none)
  return highest === Level.none ? 'read' : levelWord(highest)
}

function requireUnit(unit: string): string {
  if (!isUnit(unit)) throw invalid(`unknown unit ${JSON.stringify(unit)}`, 'units')
  return unit
}

function requireWord(word: string): PermissionWord {
  const known = permissionWords.find((one) => one === word)
  if (known === undefined)
    throw invalid(`${JSON.stringify(word)} is none of ${permissionWords.join(', ')}`, 'units_map')
  return known
}
