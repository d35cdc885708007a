import type { RenderContext } from './context.ts'
import { findAll } from './html/found.ts'
import { commitKey, issueKey, type WantedReferences } from './references.ts'

/** What a text names beyond this stays unlinked. */
const MAX_OF_A_KIND = 200
/** This runs in the main thread: 128 KB of the worst text found take 130 ms on a busy machine. What stands later stays unlinked. */
const MAX_CHARACTERS = 128 * 1024

/**
 * What a text may refer to. The source is read as plain text, before it is parsed. So some names are looked up in vain, because
 * they stand in code.
 */
export function wantedReferences(source: string, { baseUrl, mode, repo }: RenderContext): WantedReferences {
  const users = new Set<string>()
  const issues = new Map<string, WantedReferences['issues'][number]>()
  const commits = new Map<string, WantedReferences['commits'][number]>()
  const addIssue = (owner: string, name: string, index: number) => {
    if (index > 0 && issues.size < MAX_OF_A_KIND)
      issues.set(issueKey(owner, name, index), { owner: owner.toLowerCase(), repo: name.toLowerCase(), index })
  }
  const addCommit = (owner: string, name: string, sha: string) => {
    if (commits.size < MAX_OF_A_KIND)
      commits.set(commitKey(owner, name, sha), { owner: owner.toLowerCase(), repo: name.toLowerCase(), sha })
  }
  for (const found of mode === 'markdown' ? [] : findAll(source.slice(0, MAX_CHARACTERS))) {
    if (found.kind === 'user' && users.size < MAX_OF_A_KIND) users.add(found.name.toLowerCase())
    if (found.kind === 'issue') {
      const [owner, name] = [found.owner ?? repo?.owner, found.repo ?? repo?.name]
      if (owner && name) addIssue(owner, name, found.index)
    }
    if (found.kind === 'commit') {
      const [owner, name] = [found.owner ?? repo?.owner, found.repo ?? repo?.name]
      if (owner && name) addCommit(owner, name, found.sha)
    }
    if (found.kind === 'url' && found.url.startsWith(`${baseUrl}/`)) {
      const path = found.url.slice(baseUrl.length)
      const [, owner = '', name = '', kind, id = ''] =
        /^\/([\w.-]{1,100})\/([\w.-]{1,100})\/(issues|pulls|commit)\/([0-9a-f]{1,64})\b/.exec(path) ?? []
      if (kind === 'commit') addCommit(owner, name, id)
      else if (kind && /^\d{1,10}$/.test(id)) addIssue(owner, name, Number(id))
    }
  }
  return { users: [...users], issues: [...issues.values()], commits: [...commits.values()] }
}
