import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { accessForFetch, accessForPush, type GitSubject } from '../../http/git-gate.ts'
import { notFound } from '../../kernel/errors.ts'
import { grantFor } from './gate.ts'
import { headerFor, type Operation, TOKEN_SECONDS } from './token.ts'

interface Question {
  /** Who has shown a key. */
  actor: Actor
  keyId: number
  subject: GitSubject
  operation: Operation
}

/**
 * The answer to git-lfs over SSH (docs/api/server-discovery.md there): where to go on over HTTP, and the header that opens it.
 * @throws Refusal as `accessForPush` for an upload, as `accessForFetch` for a download
 */
export async function authenticateLfs(context: Context, { actor, keyId, subject, operation }: Question) {
  const admit = operation === 'upload' ? accessForPush : accessForFetch
  const { repo, unit } = await admit(context, actor, subject)
  if (unit !== 'repo.code') throw notFound('a wiki has no objects of Git LFS')
  return {
    href: `${repo.htmlUrl}.git/info/lfs`,
    header: headerFor(context, grantFor({ actor, repo, keyId }, operation)),
    expires_in: TOKEN_SECONDS,
  }
}
