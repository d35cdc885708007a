import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Remote } from '../../git/model.ts'
import { invalid } from '../../kernel/errors.ts'
import { OutboundError } from '../../outbound/outbound-error.ts'
import { type AddressProblem, areUsable, credentialsOf, readAddress } from '../mirrors/address.ts'
import { requireInterval } from '../mirrors/edit.ts'
import { enqueuePulls } from '../mirrors/enqueue.ts'
import { judgeHost, sealCredentials } from '../mirrors/remote.ts'
import { nextTry } from '../mirrors/schedule.ts'
import { insertPullMirror } from '../mirrors/store.ts'
import { createRepository } from '../repository-creation/create.ts'
import { detectFormat } from './format.ts'
import { apiUrlOf, planMigration } from './plan.ts'
import type { MigrateRepoOptions } from './schema.ts'
import { insertMigration } from './store.ts'

interface Migration {
  actor: Actor
  owner: UserRow
  option: MigrateRepoOptions
}

/**
 * Makes an empty repository, and asks for its branches and tags: they come a moment later, or when the other server can be reached. What
 * else was asked for follows them (run.ts).
 * @throws Refusal 409 for a name that is taken, 422 for an address that cannot be or may not be reached and for what is not copied;
 * else as `createRepository` and `planMigration`
 */
export async function migrateRepository(context: Context, migration: Migration): Promise<number> {
  const { option } = migration
  const { url, addresses, credentials } = await requireAddress(context, option)
  const { service, parts, notCarried } = planMigration(option)
  const apiUrl = service === undefined ? '' : apiUrlOf(url)
  const isMirror = option.mirror ?? false
  const { mirrorDefaultInterval } = context.config
  const interval = requireInterval(context, option.mirror_interval || `${mirrorDefaultInterval}m`)
  const { repo_name: name, description, private: isPrivate } = option
  const format = await detectFormat(context, { url, addresses, credentials })
  const bringsIssues = parts.includes('issues')
  return createRepository(context, {
    ...migration,
    option: { name, description, private: isPrivate, object_format_name: format },
    source: {
      columns: {
        originalUrl: url,
        isMirror,
        ...(isMirror && { mirrorIntervalSeconds: interval }),
        // Until all have come, so that nobody takes a number that belongs to one of them.
        ...(bringsIssues && { hasIssues: false }),
      },
      async insertRows(tx, repositoryId) {
        const now = context.clock.now()
        const sealed = sealCredentials(context, credentials)
        // Should the job get lost with its queue.
        const nextAt = nextTry(now, 2)
        await insertPullMirror(tx, { repositoryId, url, credentials: sealed, nextAt })
        await enqueuePulls(tx, [repositoryId])
        if (service === undefined) return
        const doerId = migration.actor.user.id
        const given = { repositoryId, service, apiUrl, credentials: sealed, doerId, notCarried, startedAt: now }
        await insertMigration(tx, { ...given, opensIssues: bringsIssues }, parts)
      },
    },
  })
}

const REFUSALS: Record<AddressProblem, string> = {
  local: 'You are not allowed to import local repositories.',
  protocol: 'Repositories are copied by http and https only.',
  syntax: 'The address is no http address of a repository.',
}

async function requireAddress(context: Context, option: MigrateRepoOptions): Promise<Remote> {
  const address = readAddress(option.clone_addr, { takesGit: context.config.migrationsGitProtocol })
  if ('problem' in address) throw invalid(REFUSALS[address.problem])
  const credentials = givenCredentials(option) ?? address.credentials
  if (!areUsable(credentials)) throw invalid('user name and password are one line each')
  if (credentials && address.url.startsWith('git:')) throw invalid('git:// takes no credentials')
  try {
    return { url: address.url, addresses: await judgeHost(context, address.url), credentials }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    // Wire: Gitea's words; they do not reveal what a name resolves to.
    throw invalid(error.problem === 'refused' ? 'You can not import from disallowed hosts.' : error.message)
  }
}

/** A token takes the place of the password. Servers that look at the user name beside one know `oauth2`. */
export function givenCredentials({ auth_username, auth_password, auth_token }: Partial<MigrateRepoOptions>) {
  if (auth_token) return credentialsOf(auth_username || 'oauth2', auth_token)
  return credentialsOf(auth_username, auth_password)
}
