import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import { notFound } from '../../kernel/errors.ts'
import { getRevision } from '../commits/revision.ts'
import { propertiesOf } from './parse.ts'
import type { EditorConfigDefinition } from './schema.ts'

/** With the longest path, the sections of this much text are compared in some 100 ms. */
const MAX_BYTES = 16 * 1024
const MAX_PATH_LENGTH = 1024

export interface EditorConfig {
  /** Blob that the answer depends on. */
  sha: string
  read(): Promise<EditorConfigDefinition>
}

/**
 * What `.editorconfig` at the root of a revision says of a path, whether or not something lies there.
 * @throws Refusal 404 for an empty repository, an unknown revision, a path that is too long, and without such a file
 */
export async function getEditorConfig(
  context: Context,
  repo: RepositoryAccess,
  { path, ref }: { path: string; ref: string | undefined },
): Promise<EditorConfig> {
  const { git } = context
  const { id, isEmpty } = repo.repository
  if (isEmpty) throw notFound('repository is empty')
  const { commit } = await getRevision(context, repo, ref)
  const entry = await git.findEntry(id, commit.tree, '.editorconfig')
  if (!entry || (entry.kind !== 'file' && entry.kind !== 'executable') || path.length > MAX_PATH_LENGTH)
    throw notFound()
  const { sha } = entry
  return { sha, read: async () => present(propertiesOf(await readText(context, id, sha), path)) }
}

/** @throws Refusal 404 for a file that is too long to be one that people wrote */
async function readText({ git }: Context, id: number, sha: string): Promise<string> {
  try {
    const { bytes } = await git.readBlob(id, sha, { maxBytes: MAX_BYTES })
    return Buffer.from(bytes).toString()
  } catch (error) {
    if (isGitError(error, 'too-large')) throw notFound()
    throw error
  }
}

const WORDS = ['charset', 'indent_style', 'indent_size', 'end_of_line'] as const
const SWITCHES = ['trim_trailing_whitespace', 'insert_final_newline'] as const

function present(properties: ReadonlyMap<string, string>): EditorConfigDefinition {
  const width = properties.get('tab_width') ?? ''
  const definition: EditorConfigDefinition = /^\d{1,9}$/.test(width) ? { tab_width: Number(width) } : {}
  for (const key of WORDS) {
    const value = properties.get(key)
    if (value !== undefined) definition[key] = value
  }
  for (const key of SWITCHES) {
    const value = properties.get(key)
    if (value === 'true' || value === 'false') definition[key] = value === 'true'
  }
  return definition
}
