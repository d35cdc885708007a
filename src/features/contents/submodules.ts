import type { Git } from '../../git/engine.ts'

const MAX_BYTES = 256 * 1024

/** Where the submodules of a commit come from, by path: what `.gitmodules` says of them. Empty when there is none to read. */
export async function readSubmodules(git: Git, repositoryId: number, tree: string): Promise<Map<string, string>> {
  const entry = await git.findEntry(repositoryId, tree, '.gitmodules')
  if (entry?.kind !== 'file' && entry?.kind !== 'executable') return new Map()
  const { size = 0 } = (await git.sizes(repositoryId, [entry.sha])).get(entry.sha) ?? {}
  if (size > MAX_BYTES) return new Map()
  const { bytes } = await git.readBlob(repositoryId, entry.sha, { maxBytes: MAX_BYTES })
  return parseSubmodules(Buffer.from(bytes).toString())
}

/** The sections of a file in git's config syntax, as far as submodules need it. */
export function parseSubmodules(text: string): Map<string, string> {
  const found = new Map<string, string>()
  let section: { path?: string; url?: string } = {}
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*\[/.test(line)) section = {}
    const [, key, value = ''] = /^\s*(path|url)\s*=\s*(.*?)\s*$/i.exec(line) ?? []
    if (key === undefined) continue
    const plain = value.replace(/^"(.*)"$/, '$1')
    section = key.toLowerCase() === 'path' ? { ...section, path: plain } : { ...section, url: plain }
    if (section.path !== undefined && section.url !== undefined) found.set(section.path, section.url)
  }
  return found
}
