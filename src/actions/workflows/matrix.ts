import { isRecord, type Json, type JsonRecord, listOf, ownValue } from './json.ts'
import { MAX_MATRIX_JOBS } from './limits.ts'
import { WorkflowError } from './problems.ts'

/** One combination of a matrix. */
export interface Combination {
  values: JsonRecord
  /** Those that a name shows: of an entry of `include` that stands alone all, otherwise the values of the matrix itself. */
  shown: Json[]
}

/**
 * Expands a matrix as GitHub documents it. The combinations of all lists come in the order of the file, the last list changing fastest.
 * `exclude` takes those away that have all its values. Then each entry of `include` is added to every combination of which it changes no
 * original value, or stands alone where there is none.
 * @param matrix with nothing left to evaluate
 * @throws WorkflowError for what is no matrix, and for too many combinations
 */
export function expandMatrix(matrix: Json): Combination[] {
  if (!isRecord(matrix)) throw new WorkflowError('The matrix is not a mapping.')
  const { include, exclude, ...lists } = matrix
  const excluded = entriesOf(exclude, 'exclude')
  const originals = combine(lists).filter((values) => !excluded.some((entry) => isPartOf(entry, values)))
  refuseTooMany(originals.length)
  const combinations = originals.map((values) => ({ values: { ...values }, shown: Object.values(values) }))
  for (const entry of entriesOf(include, 'include')) {
    const fitting = originals.flatMap((values, index) => (changesNothing(entry, values) ? [combinations[index]] : []))
    for (const combination of fitting) if (combination) Object.assign(combination.values, entry)
    if (fitting.length === 0) combinations.push({ values: { ...entry }, shown: Object.values(entry) })
    refuseTooMany(combinations.length)
  }
  return combinations
}

/** Combinations, before `exclude` takes some away. */
const MAX_BEFORE_EXCLUDE = 16 * MAX_MATRIX_JOBS

function refuseTooMany(count: number, limit = MAX_MATRIX_JOBS): void {
  if (count > limit) throw new WorkflowError(`The matrix has more than ${limit} combinations.`)
}

function combine(lists: JsonRecord): JsonRecord[] {
  const entries = Object.entries(lists)
  if (entries.length === 0) return []
  let combinations: JsonRecord[] = [{}]
  for (const [key, values] of entries) {
    if (!Array.isArray(values)) throw new WorkflowError(`\`${key}\` of the matrix is not a list.`)
    if (values.length === 0) throw new WorkflowError(`\`${key}\` of the matrix is an empty list.`)
    refuseTooMany(combinations.length * values.length, MAX_BEFORE_EXCLUDE)
    combinations = combinations.flatMap((combination) => values.map((value) => ({ ...combination, [key]: value })))
  }
  return combinations
}

function entriesOf(value: Json | undefined, key: string): JsonRecord[] {
  return listOf(value).map((entry) => {
    if (!isRecord(entry)) throw new WorkflowError(`\`${key}\` of the matrix is not a list of mappings.`)
    return entry
  })
}

const isPartOf = (entry: JsonRecord, values: JsonRecord): boolean =>
  Object.entries(entry).every(([key, value]) => covers(value, ownValue(values, key)))

/** An entry of `include` without any key of the matrix fits every combination. */
const changesNothing = (entry: JsonRecord, values: JsonRecord): boolean =>
  Object.entries(entry).every(([key, value]) => !Object.hasOwn(values, key) || Bun.deepEquals(value, values[key]))

/** Of a mapping, the given keys alone are compared. */
function covers(wanted: Json, value: Json | undefined): boolean {
  if (isRecord(wanted) && isRecord(value)) return isPartOf(wanted, value)
  return Bun.deepEquals(wanted, value)
}
