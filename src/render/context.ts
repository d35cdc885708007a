/** What a client asks for by `Mode`. `markdown` is the plain form: nothing is looked up or linked. */
export type Mode = 'markdown' | 'comment' | 'gfm' | 'wiki' | 'file'

const MODES: readonly Mode[] = ['markdown', 'comment', 'gfm', 'wiki', 'file']

/** Wire: an empty mode is the plain one. Undefined for an unknown one. */
export const parseMode = (text: string): Mode | undefined =>
  text === '' ? 'markdown' : MODES.find((mode) => mode === text)

/** Where a text stands: what its relative links and its `#12` mean. */
export interface RenderContext {
  /** Without a slash at the end. */
  baseUrl: string
  mode: Mode
  repo?: { owner: string; name: string }
  /** Path of the folder of the text below `src/`, such as `branch/main/docs`; empty when the client named none. */
  tree: string
}

export interface ContextInput {
  baseUrl: string
  mode: Mode
  /** `owner/repo`, or the path of a folder as on the pages: `/owner/repo/src/branch/main/docs`. */
  context: string
  isWiki: boolean
}

/** Reads the `Context` of a client. What is not understood means no repository. */
export function parseContext({ baseUrl, mode, context, isWiki }: ContextInput): RenderContext {
  const effective = isWiki && mode !== 'markdown' ? 'wiki' : mode
  const [owner = '', name = '', kind, ...tree] = context.split('/').filter((part) => part !== '')
  const isRepo = [owner, name].every((part) => /^[\w.-]{1,100}$/.test(part) && !/^\.+$/.test(part))
  // Wire: a full address as context counts as none, links then start at the root.
  if (!isRepo || context.includes(':')) return { baseUrl, mode: effective, tree: '' }
  const isTree = kind === 'src' || kind === 'media' || kind === 'raw'
  return { baseUrl, mode: effective, repo: { owner, name }, tree: isTree ? tree.join('/') : '' }
}
