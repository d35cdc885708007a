import { isRecord, type Json, type JsonRecord, listOf, mapRecord, optionalText, recordOf, textOf } from './json.ts'
import { MAX_DISPATCH_INPUTS, MAX_NAME, MAX_PATTERNS, MAX_SCHEDULES } from './limits.ts'
import type { CallDefinition, EventFilter, InputDefinition, InputType, ScheduleEntry, Triggers } from './model.ts'
import { patternProblem } from './pattern.ts'
import { type Position, WorkflowError } from './problems.ts'
import { nextTime } from './schedule.ts'

type Find = (path: readonly string[]) => Position

/** Reads `on`: a name, names, or a mapping of names to filters. */
export function readTriggers(on: Json | undefined, find: Find): Triggers {
  const events = isRecord(on) ? on : Object.fromEntries(listOf(on).map((name) => [textOf(name), null]))
  const { schedule, workflow_dispatch: dispatch, workflow_call: call } = events
  return {
    events: mapRecord(events, (filter, name) => readFilter(recordOf(filter), (at) => find([name, ...at]))),
    schedule: readSchedule(schedule, find),
    inputs: readDispatchInputs(recordOf(dispatch).inputs, find),
    call: call === undefined ? undefined : readCall(recordOf(call)),
  }
}

const PATTERNS = ['branches', 'tags', 'paths'] as const

function readFilter(filter: JsonRecord, find: Find): EventFilter {
  const texts = (key: string) => (filter[key] === undefined ? undefined : listOf(filter[key]).map(textOf))
  for (const key of PATTERNS) {
    if (filter[key] !== undefined && filter[`${key}-ignore`] !== undefined)
      throw new WorkflowError(`\`${key}\` and \`${key}-ignore\` cannot both be given for one event.`, find([key]))
    checkPatterns(texts(key) ?? [], find([key]))
    checkPatterns(texts(`${key}-ignore`) ?? [], find([`${key}-ignore`]))
    if (texts(key)?.every((pattern) => pattern.startsWith('!')))
      throw new WorkflowError(`\`${key}\` needs a pattern without \`!\`, or nothing matches.`, find([key]))
  }
  return {
    types: texts('types'),
    branches: texts('branches'),
    branchesIgnore: texts('branches-ignore'),
    tags: texts('tags'),
    tagsIgnore: texts('tags-ignore'),
    paths: texts('paths'),
    pathsIgnore: texts('paths-ignore'),
    workflows: texts('workflows'),
  }
}

function checkPatterns(patterns: readonly string[], at: Position): void {
  if (patterns.length > MAX_PATTERNS) throw new WorkflowError(`There are more than ${MAX_PATTERNS} patterns.`, at)
  for (const pattern of patterns) {
    const problem = patternProblem(pattern)
    if (problem !== undefined) throw new WorkflowError(`The pattern \`${pattern}\` is none: ${problem}.`, at)
  }
}

function readSchedule(schedule: Json | undefined, find: Find): ScheduleEntry[] {
  const items = listOf(schedule)
  if (items.length > MAX_SCHEDULES)
    throw new WorkflowError(`There are more than ${MAX_SCHEDULES} schedules.`, find(['schedule']))
  return items.map((item) => {
    const { cron, timezone } = recordOf(item)
    const entry: ScheduleEntry = { cron: textOf(cron), timezone: optionalText(timezone) }
    if (entry.cron.length > MAX_NAME)
      throw new WorkflowError(`A schedule has more than ${MAX_NAME} characters.`, find(['schedule']))
    if (nextTime(entry, new Date(0)) === undefined)
      throw new WorkflowError(
        `The schedule \`${entry.cron}\` is never due, or its time zone is unknown.`,
        find(['schedule']),
      )
    return entry
  })
}

function readDispatchInputs(inputs: Json | undefined, find: Find): Record<string, InputDefinition> {
  const definitions = mapRecord(recordOf(inputs), (input) => readInput(recordOf(input)))
  if (Object.keys(definitions).length > MAX_DISPATCH_INPUTS)
    throw new WorkflowError(`There are more than ${MAX_DISPATCH_INPUTS} inputs.`, find(['workflow_dispatch', 'inputs']))
  return definitions
}

const TYPES: readonly InputType[] = ['string', 'boolean', 'number', 'choice', 'environment']

const readInput = (input: JsonRecord): InputDefinition => ({
  type: TYPES.find((type) => type === input.type) ?? 'string',
  description: optionalText(input.description),
  isRequired: input.required === true,
  default: input.default ?? undefined,
  options: listOf(input.options).map(textOf),
})

const readCall = (call: JsonRecord): CallDefinition => ({
  inputs: mapRecord(recordOf(call.inputs), (input) => readInput(recordOf(input))),
  secrets: Object.fromEntries(
    Object.entries(recordOf(call.secrets)).map(([name, secret]) => [
      name.toUpperCase(),
      { isRequired: recordOf(secret).required === true },
    ]),
  ),
  outputs: mapRecord(recordOf(call.outputs), (output) => textOf(recordOf(output).value)),
})
