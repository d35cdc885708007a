import type { TreeChange } from '../../git/model.ts'
import { invalid } from '../../kernel/errors.ts'
import type { ChangeFileOperation } from './schema.ts'

/**
 * One operation as Git's engine takes it. Who names the blob that a file is changes that one alone: an edit that was made meanwhile is
 * never lost. Wire: among several operations the blob need not be named.
 * @throws Refusal 422 for content that is no base64
 */
export function readChange(operation: ChangeFileOperation): TreeChange {
  const { path, from_path: fromPath } = operation
  const sha = operation.sha || undefined
  switch (operation.operation) {
    case 'create':
      return { op: 'create', path, content: readContent(operation.content ?? '') }
    case 'upload':
      return { op: 'put', path, content: readContent(operation.content ?? '') }
    case 'delete':
      return { op: 'delete', path, sha }
    case 'update': {
      const content = readContent(operation.content ?? '')
      if (!fromPath || fromPath === path) return { op: 'update', path, content, sha }
      return { op: 'rename', fromPath, path, content, sha }
    }
    case 'rename': {
      if (!fromPath) throw invalid('Required', 'from_path')
      const content = operation.content === undefined ? undefined : readContent(operation.content)
      return { op: 'rename', fromPath, path, content, sha }
    }
  }
}

function readContent(base64: string): Uint8Array {
  const content = decodeBase64(base64)
  if (content === undefined) throw invalid('is not base64', 'content')
  return content
}

/** RFC 4648 section 4. Line breaks are let through, as many clients wrap their lines. Undefined for what is none. */
export function decodeBase64(base64: string): Uint8Array | undefined {
  const text = base64.replace(/[\r\n]/g, '')
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  return Buffer.from(text, 'base64')
}

/** What a commit without a message says. Wire: new files first, then changed and deleted ones. */
export function describeChanges(operations: readonly ChangeFileOperation[]): string {
  const pathsOf = (...kinds: string[]) =>
    operations
      .filter(({ operation }) => kinds.includes(operation))
      .map(({ path }) => path)
      .join(', ')
  const lines = [
    ['Add', pathsOf('create')],
    ['Update', pathsOf('update', 'upload')],
    ['Rename', pathsOf('rename')],
    ['Delete', pathsOf('delete')],
  ] as const
  return lines.flatMap(([verb, paths]) => (paths === '' ? [] : [`${verb} ${paths}`])).join('\n')
}
