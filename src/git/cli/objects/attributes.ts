import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AttributeQuery, Call } from '../../model.ts'
import { pathProblem } from '../../paths.ts'
import { runGit, streamGit } from '../process/process.ts'
import { requireFolder, type Store } from '../store.ts'

const NOTHING = 'unspecified'

/**
 * git reads attributes from an index as well as from a folder, and from a commit only since 2.40: the few files that hold them are put
 * into an index of their own, and one process answers for all paths.
 */
export async function readAttributes(
  store: Store,
  id: number,
  { sources, names, paths }: AttributeQuery,
  call?: Call,
): Promise<Map<string, Map<string, string>>> {
  const found = new Map<string, Map<string, string>>()
  const usable = sources.filter(({ path }) => pathProblem(path) === undefined)
  if (usable.length === 0 || paths.length === 0) return found
  const folder = await requireFolder(store.runner.root, id)
  const place = await mkdtemp(join(tmpdir(), 'hearth-attributes-'))
  const environment = { GIT_INDEX_FILE: join(place, 'index') }
  try {
    const lines = usable.map(({ path, sha }) => `100644 ${sha}\t${path}\0`).join('')
    await runGit(store.runner, {
      args: ['update-index', '-z', '--index-info'],
      folder,
      stdin: lines,
      environment,
      call,
    })
    const args = ['check-attr', '--cached', '--stdin', '-z', ...names]
    const stdin = paths.map((path) => `${path}\0`).join('')
    const output = await streamGit(store.runner, { args, folder, stdin, environment, call })
    for await (const [path, name, value] of triples(output)) {
      if (value === NOTHING) continue
      const known = found.get(path) ?? new Map<string, string>()
      found.set(path, known.set(name, value))
    }
    return found
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

/** Three texts at a time, each with a NUL behind it. A part of one waits for the rest. */
async function* triples(stream: ReadableStream<Uint8Array>): AsyncGenerator<[string, string, string]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const texts = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\0')
    const whole = texts.length - 1 - ((texts.length - 1) % 3)
    for (let at = 0; at < whole; at += 3) yield [texts[at] ?? '', texts[at + 1] ?? '', texts[at + 2] ?? '']
    rest = texts.slice(whole).join('\0')
  }
}
