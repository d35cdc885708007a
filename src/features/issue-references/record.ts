import { type Reaction, reaction } from '../../events/reaction.ts'
import { mayNameIssues } from '../../render/named-issues.ts'
import { recordCommits } from './commits.ts'
import { recordText } from './texts.ts'

/** Queues that repositories share: the texts of one repository are read in the order of their events. */
const QUEUES = 8

/** Writes into the history of issues where they are named: in issues, in comments and in commits that were pushed. */
export const referenceRecord: Reaction = reaction({
  name: 'references.record',
  kinds: ['issue.created', 'issue.edited', 'comment.created', 'comment.edited', 'push'],
  queueOf: ({ repositoryId }) => `references:${(repositoryId ?? 0) % QUEUES}`,
  concerns({ kind, payload, actorId }) {
    if (actorId === null) return false
    switch (kind) {
      case 'issue.created':
        return mayNameIssues(payload.facts?.body ?? '')
      case 'issue.edited':
        return payload.oldBody !== undefined && mayNameIssues(`${payload.oldBody} ${payload.facts?.body}`)
      case 'comment.created':
        return mayNameIssues(payload.comment?.body ?? '')
      case 'comment.edited':
        return mayNameIssues(`${payload.oldBody} ${payload.comment?.body}`)
      case 'push':
        // What a mirror brings was done elsewhere.
        return !payload.isMirrorSync && (payload.commits ?? []).some(({ message }) => mayNameIssues(message))
    }
  },
  async react(context, event) {
    const { actorId, repositoryId } = event
    if (actorId === null || repositoryId === null) return
    const author = { actorId, repositoryId, at: event.createdAt }
    if (event.kind === 'push') await recordCommits(context, author, event.payload)
    else if (event.kind === 'comment.created' || event.kind === 'comment.edited')
      await recordText(context, author, { commentId: event.payload.commentId })
    else await recordText(context, author, { issueId: event.payload.issueId })
  },
})
