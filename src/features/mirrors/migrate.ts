import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'
import { OutboundError } from '../../outbound/outbound-error.ts'
import { createRepository } from '../repository-creation/create.ts'
import { type AddressFault, areUsable, credentialsOf, type RemoteAddress, readAddress } from './address.ts'
import { requireInterval } from './edit.ts'
import { enqueuePulls } from './enqueue.ts'
import { judgeHost, sealCredentials } from './remote.ts'
import { nextTry } from './schedule.ts'
import type { MigrateRepoOptions } from './schema.ts'
import { insertPullMirror } from './store.ts'

interface Migration {
  actor: Actor
  owner: UserRow
  option: MigrateRepoOptions
}

/** Fields of the option that stand for what is not copied. Who asks for it is told, and does not miss it later. */
const UNCOPIED = ['issues', 'labels', 'milestones', 'pull_requests', 'releases', 'wiki', 'lfs'] as const

/**
 * Makes an empty repository, and asks for its branches and tags: they come a moment later, or when the other server can be reached.
 * @throws Refusal 409 for a name that is taken, 422 for an address that cannot be or may not be reached and for what is not copied;
 * else as `createRepository`
 */
export async function migrateRepository(context: Context, migration: Migration): Promise<number> {
  const { option } = migration
  const { url, credentials } = await requireAddress(context, option)
  refuseUncopied(option)
  const isMirror = option.mirror ?? false
  const { mirrorDefaultInterval } = context.config
  const interval = requireInterval(context, option.mirror_interval || `${mirrorDefaultInterval}m`)
  const { repo_name: name, description, private: isPrivate } = option
  return createRepository(context, {
    ...migration,
    option: { name, description, private: isPrivate },
    source: {
      columns: { originalUrl: url, isMirror, ...(isMirror && { mirrorIntervalSeconds: interval }) },
      async insertRows(tx, repositoryId) {
        // Should the job get lost with its queue.
        const nextAt = nextTry(context.clock.now(), 2)
        await insertPullMirror(tx, { repositoryId, url, credentials: sealCredentials(context, credentials), nextAt })
        await enqueuePulls(tx, [repositoryId])
      },
    },
  })
}

const FAULTS: Record<AddressFault, string> = {
  local: 'You are not allowed to import local repositories.',
  protocol: 'Repositories are copied by http and https only.',
  syntax: 'The address is no http address of a repository.',
}

async function requireAddress(context: Context, option: MigrateRepoOptions): Promise<RemoteAddress> {
  const address = readAddress(option.clone_addr)
  if ('fault' in address) throw invalid(FAULTS[address.fault])
  const credentials = givenCredentials(option) ?? address.credentials
  if (!areUsable(credentials)) throw invalid('user name and password are one line each')
  try {
    await judgeHost(context, address.url)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    // Wire: Gitea's words; they do not tell what a name resolves to.
    throw invalid(error.fault === 'refused' ? 'You can not import from disallowed hosts.' : error.message)
  }
  return { url: address.url, credentials }
}

/** A token takes the place of the password. Servers that look at the user name beside one know `oauth2`. */
function givenCredentials({ auth_username, auth_password, auth_token }: MigrateRepoOptions) {
  if (auth_token) return credentialsOf(auth_username || 'oauth2', auth_token)
  return credentialsOf(auth_username, auth_password)
}

function refuseUncopied(option: MigrateRepoOptions): void {
  const asked = UNCOPIED.filter((field) => option[field])
  if (asked.length > 0) throw invalid(`only branches and tags are copied; leave out ${asked.join(', ')}`)
  if (option.aws_access_key_id || option.aws_secret_access_key)
    throw invalid('keys of AWS are not taken; give a user name and password for Git')
}
