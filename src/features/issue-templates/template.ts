import { readFields } from './form.ts'
import { isRecord, readYaml } from './read-yaml.ts'
import type { IssueTemplate } from './schema.ts'

/** Reads one file; undefined for one that cannot be used. Wire: a text without a head is a template under the name of its file. */
export function readTemplate(path: string, text: string): IssueTemplate | undefined {
  if (!path.endsWith('.md')) return readForm(path, text)
  const head = /^---[ \t]*\r?\n([\s\S]*?)\n---[ \t]*(?:\r?\n|$)/.exec(text)
  const values = head?.[1] === undefined ? undefined : readYaml(head[1])?.value
  if (!head || !isRecord(values)) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    return { ...EMPTY, name, about: [...text].slice(0, MAX_ABOUT).join(''), content: text, file_name: path }
  }
  return describe(values, { content: text.slice(head[0].length), body: null, file_name: path })
}

const MAX_ABOUT = 80
const EMPTY = { title: '', labels: null, assignees: null, ref: '', body: null }

function readForm(path: string, text: string): IssueTemplate | undefined {
  const values = readYaml(text)?.value
  const body = isRecord(values) ? readFields(values.body) : undefined
  return isRecord(values) && body ? describe(values, { content: '', body, file_name: path }) : undefined
}

/** Wire: a template needs a name and says what it is for. */
function describe(
  values: Record<string, unknown>,
  rest: Pick<IssueTemplate, 'content' | 'body' | 'file_name'>,
): IssueTemplate | undefined {
  const { name, about, description, title, ref, labels, assignees } = values
  const purpose = textOf(about) || textOf(description)
  if (textOf(name) === '' || purpose === '') return undefined
  return {
    name: textOf(name),
    title: textOf(title),
    about: purpose,
    labels: listOf(labels),
    assignees: listOf(assignees),
    ref: fullRef(textOf(ref)),
    ...rest,
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const fullRef = (ref: string): string => (ref === '' || ref.startsWith('refs/') ? ref : `refs/heads/${ref}`)

/** A list, or words between commas. */
function listOf(value: unknown): string[] | null {
  if (typeof value === 'string') return value.split(',').flatMap((word) => word.trim() || [])
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null
}
