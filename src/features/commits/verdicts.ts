import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Commit } from '../../git/model.ts'
import { verifySignatures } from '../../signatures/verify.ts'
import type { Verdict } from '../../wire/payload-commit.ts'

/** By the id of the commit; only of those with a signature. */
export type Verdicts = ReadonlyMap<string, Verdict>

/** What is known of the signatures of commits, for a reader. Without signatures nothing is asked. */
export async function findVerdicts(
  context: Context,
  actor: Actor | undefined,
  commits: readonly Pick<Commit, 'sha' | 'signature' | 'committer'>[],
): Promise<Verdicts> {
  const signed = commits.filter(({ signature }) => signature !== undefined)
  if (signed.length === 0) return new Map()
  const subjects = signed.map(({ signature, committer }) => ({ signature, email: committer.email }))
  const verdicts = await verifySignatures(context, actor, subjects)
  return new Map(
    signed.flatMap(({ sha }, index) => {
      const verdict = verdicts[index]
      return verdict ? [[sha, verdict]] : []
    }),
  )
}
