import { isRecord } from './read-yaml.ts'
import type { IssueFormField } from './schema.ts'

type FieldType = IssueFormField['type']

const TYPES: readonly FieldType[] = ['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']
const MAX_FIELDS = 100

const isType = (value: unknown): value is FieldType => TYPES.some((type) => type === value)

/** Reads the fields of a form; undefined when one of them cannot be shown, or there is none. */
export function readFields(body: unknown): IssueFormField[] | undefined {
  if (!Array.isArray(body) || body.length === 0 || body.length > MAX_FIELDS) return undefined
  const fields = body.map(readField)
  const known = fields.filter((field) => field !== undefined)
  const hasDifferentIds = new Set(known.map(({ id }) => id)).size === known.length
  return known.length === fields.length && hasDifferentIds ? known : undefined
}

function readField(field: unknown, index: number): IssueFormField | undefined {
  if (!isRecord(field) || !isType(field.type)) return undefined
  const { type, id = String(index), attributes = null, validations = null, visible } = field
  if (typeof id !== 'string' || !/^[\w-]+$/.test(id)) return undefined
  if (!isRecord(attributes) || !hasWhatItNeeds(type, attributes)) return undefined
  if (validations !== null && !isRecord(validations)) return undefined
  const shown = visible ?? (type === 'markdown' ? ['form'] : ['form', 'content'])
  return isVisibility(shown) ? { type, id, attributes, validations, visible: shown } : undefined
}

const isVisibility = (value: unknown): value is IssueFormField['visible'] =>
  Array.isArray(value) && value.every((place) => place === 'form' || place === 'content')

function hasWhatItNeeds(type: FieldType, { value, label, options }: Record<string, unknown>): boolean {
  if (type === 'markdown') return isText(value)
  if (!isText(label)) return false
  if (type === 'dropdown') return isList(options, isText)
  if (type === 'checkboxes') return isList(options, (option) => isRecord(option) && isText(option.label))
  return true
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isList = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isItem)
