import { MAX_CHANGED_PATHS } from './limits.ts'
import type { EventFilter, ScheduleEntry, Workflow } from './model.ts'
import { parsePatterns } from './pattern.ts'
import type { WorkflowProblem } from './problems.ts'

/** Something that happened, as far as filters look at it. */
export interface TriggerEvent {
  /** Such as `push`. */
  name: string
  /** The activity, such as `opened`. */
  type?: string | undefined
  /** What was pushed; of a pull request its base, of a run of another workflow its head. */
  ref?: { kind: 'branch' | 'tag'; name: string } | undefined
  /** Undefined where they cannot be told, as with too large a push: filters of paths then let it through. */
  changedPaths?: readonly string[] | undefined
  /** The name of the workflow that has run. */
  workflow?: string | undefined
  /** The entry of the schedule that is due. */
  schedule?: ScheduleEntry | undefined
}

/** Activities that start a workflow which names none. Other events start it with every activity. */
const DEFAULT_TYPES: Readonly<Record<string, readonly string[]>> = {
  pull_request: ['opened', 'synchronize', 'reopened'],
  pull_request_target: ['opened', 'synchronize', 'reopened'],
}

/** As a thread tells it. */
export type ReadMatch =
  | { isMatched: boolean; errors?: undefined }
  | { isMatched?: undefined; errors: WorkflowProblem[] }

/** Whether an event starts a workflow. All filters of the event have to agree. */
export function matches({ on }: Pick<Workflow, 'on'>, event: TriggerEvent): boolean {
  const filter = Object.hasOwn(on.events, event.name) ? on.events[event.name] : undefined
  if (filter === undefined) return false
  if (event.name === 'schedule') return on.schedule.some((entry) => isSame(entry, event.schedule))
  return (
    matchesType(filter, event) &&
    matchesRef(filter, event) &&
    matchesPaths(filter, event) &&
    (filter.workflows === undefined || filter.workflows.includes(event.workflow ?? ''))
  )
}

const isSame = ({ cron, timezone }: ScheduleEntry, due: ScheduleEntry | undefined): boolean =>
  cron === due?.cron && timezone === due.timezone

function matchesType({ types }: EventFilter, { name, type }: TriggerEvent): boolean {
  const wanted = types ?? DEFAULT_TYPES[name]
  return wanted === undefined || type === undefined || wanted.includes(type)
}

/** A filter of branches alone keeps all tags out, and one of tags alone all branches. */
function matchesRef(filter: EventFilter, { ref }: TriggerEvent): boolean {
  const branches = { only: filter.branches, except: filter.branchesIgnore }
  const tags = { only: filter.tags, except: filter.tagsIgnore }
  if (ref === undefined || !(isGiven(branches) || isGiven(tags))) return true
  const lists = ref.kind === 'branch' ? branches : tags
  return isGiven(lists) && passes(lists, ref.name)
}

interface Lists {
  only: readonly string[] | undefined
  except: readonly string[] | undefined
}

const isGiven = ({ only, except }: Lists): boolean => only !== undefined || except !== undefined

const passes = ({ only, except }: Lists, text: string): boolean =>
  only ? parsePatterns(only).matches(text) : !parsePatterns(except ?? []).matches(text)

/** Pushes of tags have no changed paths. */
function matchesPaths({ paths, pathsIgnore }: EventFilter, { ref, changedPaths, name }: TriggerEvent): boolean {
  if (changedPaths === undefined || (name === 'push' && ref?.kind === 'tag')) return true
  const changed = changedPaths.slice(0, MAX_CHANGED_PATHS)
  if (paths) {
    const wanted = parsePatterns(paths)
    return changed.some((path) => wanted.matches(path))
  }
  if (pathsIgnore) {
    const ignored = parsePatterns(pathsIgnore)
    return changed.some((path) => !ignored.matches(path))
  }
  return true
}

const SKIP_WORDS = ['[skip ci]', '[ci skip]', '[no ci]', '[skip actions]', '[actions skip]']

/** Whether a commit's message asks that pushes and pull requests of it start nothing. */
export function asksToSkip(message: string): boolean {
  const lower = message.toLowerCase()
  return SKIP_WORDS.some((word) => lower.includes(word)) || /(?:^|\n)skip-checks:[ \t]*true[ \t]*(?:\n|$)/.test(lower)
}
