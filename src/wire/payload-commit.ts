import { t } from 'elysia'
import type { TipCommit } from '../../db/schema/refs.ts'
import { wireTime } from '../kernel/time.ts'

export const PayloadUser = t.Object(
  { name: t.String({ description: 'Full name of the commit author' }), email: t.String(), username: t.String() },
  { $id: 'PayloadUser' },
)

export const PayloadCommitVerification = t.Object(
  {
    verified: t.Boolean(),
    reason: t.String(),
    signature: t.String(),
    signer: t.Union([PayloadUser, t.Null()]),
    payload: t.String(),
  },
  { $id: 'PayloadCommitVerification' },
)

const paths = () => t.Union([t.Array(t.String()), t.Null()])

export type PayloadCommit = typeof PayloadCommit.static
export const PayloadCommit = t.Object(
  {
    id: t.String(),
    message: t.String(),
    url: t.String(),
    author: PayloadUser,
    committer: PayloadUser,
    verification: PayloadCommitVerification,
    timestamp: t.String({ format: 'date-time' }),
    added: paths(),
    removed: paths(),
    modified: paths(),
  },
  { $id: 'PayloadCommit' },
)

interface Source {
  sha: string
  commit: TipCommit
  /** Page of the repository. */
  htmlUrl: string
  /** Account names by address in lower case. */
  names: ReadonlyMap<string, string>
  verdict?: Verdict
}

/** What is known of a signature, once it was looked at. */
export interface Verdict {
  isVerified: boolean
  /** Who signed with which key, or Gitea's word for why that is not known. */
  reason: string
  signer: { name: string; email: string; username: string } | null
}

/** A commit at the tip of a branch. Wire: the lists of paths are null here, and the time is the author's. */
export function presentPayloadCommit({ sha, commit, htmlUrl, names, verdict }: Source): PayloadCommit {
  const person = (name: string, email: string) => ({ name, email, username: names.get(email.toLowerCase()) ?? '' })
  return {
    id: sha,
    message: commit.message,
    url: `${htmlUrl}/commit/${sha}`,
    author: person(commit.authorName, commit.authorEmail),
    committer: person(commit.committerName, commit.committerEmail),
    verification: presentVerification(commit.signature, verdict),
    timestamp: wireTime(new Date(commit.authoredAt)),
    added: null,
    removed: null,
    modified: null,
  }
}

/** Wire: the reasons are the keys of Gitea's texts. */
export function presentVerification(
  signature: TipCommit['signature'],
  verdict: Verdict | undefined,
): typeof PayloadCommitVerification.static {
  return {
    verified: verdict?.isVerified ?? false,
    reason: verdict?.reason ?? (signature ? 'gpg.error.no_gpg_keys_found' : 'gpg.error.not_signed_commit'),
    signature: signature?.text ?? '',
    signer: verdict?.signer ?? null,
    payload: signature?.payload ?? '',
  }
}
