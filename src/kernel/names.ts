/** Names that would shadow a path of the program or of Gitea's web pages. */
const RESERVED_OWNER_NAMES = new Set(
  [
    '.', '..', '.well-known', '-', 'api', 'assets', 'attachments', 'avatar', 'avatars', 'captcha', 'commits', 'debug', 'devtest',
    'error', 'explore', 'favicon.ico', 'ghost', 'issues', 'login', 'manifest.json', 'metrics', 'milestones', 'notifications',
    'org', 'pulls', 'raw', 'repo', 'repo-avatars', 'robots.txt', 'search', 'ssh_info', 'swagger.v1.json', 'user', 'v2',
    'gitea-actions', 'hearth-actions', 'healthz',
  ],
) // biome-ignore format: one name a line would hide the list
const RESERVED_OWNER_ENDINGS = ['.keys', '.gpg', '.rss', '.atom', '.png']
const RESERVED_REPOSITORY_NAMES = new Set(['.', '..', '-'])
const RESERVED_REPOSITORY_ENDINGS = ['.git', '.wiki', '.rss', '.atom']

export const MAX_OWNER_NAME_LENGTH = 40
export const MAX_REPOSITORY_NAME_LENGTH = 100

export type NameProblem = 'empty' | 'too long' | 'characters' | 'reserved' | 'pattern'

/** What is wrong with a name for a user or an organization; undefined when it can be taken. */
export function ownerNameProblem(name: string): NameProblem | undefined {
  if (name === '') return 'empty'
  if (name.length > MAX_OWNER_NAME_LENGTH) return 'too long'
  if (!/^[A-Za-z0-9_.-]+$/.test(name) || /^[-._]|[-._]$|[-._]{2}/.test(name)) return 'characters'
  const lower = name.toLowerCase()
  if (RESERVED_OWNER_NAMES.has(lower)) return 'reserved'
  return RESERVED_OWNER_ENDINGS.some((ending) => lower.endsWith(ending)) ? 'pattern' : undefined
}

/** What is wrong with a name for a repository; undefined when it can be taken. */
export function repositoryNameProblem(name: string): NameProblem | undefined {
  if (name === '') return 'empty'
  if (name.length > MAX_REPOSITORY_NAME_LENGTH) return 'too long'
  if (!/^[A-Za-z0-9_.-]+$/.test(name)) return 'characters'
  const lower = name.toLowerCase()
  if (RESERVED_REPOSITORY_NAMES.has(lower)) return 'reserved'
  return RESERVED_REPOSITORY_ENDINGS.some((ending) => lower.endsWith(ending)) ? 'pattern' : undefined
}
