import type { PartName } from '../../../db/schema/migrations.ts'
import { invalid } from '../../kernel/errors.ts'
import type { MigrateRepoOptions } from './schema.ts'

/** Servers that speak the Gitea API. */
const FAMILY: ReadonlySet<string> = new Set(['gitea', 'forgejo', 'hearth'])

/** In the order in which they come: issues refer to labels and milestones, comments to issues, and files to releases. */
const PARTS = [
  'labels',
  'milestones',
  'issues',
  'comments',
  'releases',
  'release_files',
  'wiki',
] as const satisfies readonly PartName[]

/** What can be asked for, and is not carried over. */
const UNCARRIED = { pull_requests: 'pull requests', lfs: 'files of LFS' } as const

const CONTENT = ['issues', 'labels', 'milestones', 'releases', 'pull_requests', 'wiki', 'lfs'] as const

export interface MigrationPlan {
  /** Undefined where branches and tags are all. */
  service: string | undefined
  parts: PartName[]
  /** One sentence each. */
  notCarried: string[]
}

/**
 * What a migration takes over beside branches and tags.
 * @throws Refusal 422 where content is asked for of plain Git or of a mirror, and for keys of AWS
 */
export function planMigration(option: MigrateRepoOptions): MigrationPlan {
  const service = (option.service ?? '').toLowerCase()
  const asked = CONTENT.filter((field) => option[field])
  if (option.aws_access_key_id || option.aws_secret_access_key)
    throw invalid('keys of AWS are not taken; give a user name and password for Git')
  if (!FAMILY.has(service)) {
    if (asked.length > 0)
      throw invalid(
        `of plain Git only branches and tags are copied; leave out ${asked.join(', ')}, or name a service: ${[...FAMILY].join(', ')}`,
      )
    return { service: undefined, parts: [], notCarried: [] }
  }
  if (option.mirror && asked.length > 0)
    throw invalid(`a mirror follows branches and tags only; leave out ${asked.join(', ')}`)
  if (asked.length === 0) return { service: undefined, parts: [], notCarried: [] }
  return {
    service,
    parts: PARTS.filter((part) => option[askedBy(part)]),
    notCarried: Object.entries(UNCARRIED).flatMap(([field, words]) =>
      asked.some((one) => one === field) ? [`${words} (${field}): not carried over by this version`] : [],
    ),
  }
}

/** Comments come with their issues, and files with their releases. */
function askedBy(part: PartName): (typeof CONTENT)[number] {
  if (part === 'comments') return 'issues'
  return part === 'release_files' ? 'releases' : part
}

/**
 * Where the API of the other server has a repository.
 * @param url the address that Git clones
 * @throws Refusal 422 for an address that does not end in an owner and a name
 */
export function apiUrlOf(url: string): string {
  const { origin, pathname, protocol } = new URL(url)
  if (protocol === 'git:') throw invalid('the API of a server is reached by http and https only')
  const words = pathname.split('/').filter((word) => word !== '')
  const [owner, name] = words.slice(-2)
  if (owner === undefined || name === undefined) throw invalid('the address does not end in /OWNER/NAME')
  const before = words.slice(0, -2).map((word) => `/${word}`)
  return `${origin}${before.join('')}/api/v1/repos/${owner}/${name.replace(/\.git$/, '')}`
}
