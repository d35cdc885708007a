import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { hasCurrent, weakTag } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { queryText } from '../../http/query.ts'
import { notFound } from '../../kernel/errors.ts'
import { findConclusion } from './badge-store.ts'
import { drawBadge } from './badge-svg.ts'

/** Whatever a name holds, nothing in the picture may run or load, and any page may show it. */
const headers = {
  'content-type': 'image/svg+xml; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  // Proxies of pictures ask each time, and are told when nothing has changed.
  'cache-control': 'no-cache',
}

/** The address that `badge_url` of a workflow names: whether its newest completed run went well. */
export const workflowBadges = (context: Context) =>
  new Elysia({ name: 'workflow-badges', prefix: '/:owner/:repo', detail: { hide: true } }).use(gate(context)).get(
    '/actions/workflows/:workflow_id/badge.svg',
    async ({ repo: { repository }, params, query: { branch, event }, request }) => {
      const file = params.workflow_id
      const [, name] = /^([^/\0]+)\.ya?ml$/.exec(file) ?? []
      if (name === undefined) throw notFound()
      const ref = `refs/heads/${branch ?? repository.defaultBranch}`
      const badge = drawBadge(name, await findConclusion(context.db, { repositoryId: repository.id, file, ref, event }))
      const tagged = { ...headers, etag: weakTag(badge) }
      return hasCurrent(request, tagged.etag)
        ? new Response(null, { status: 304, headers: tagged })
        : new Response(badge, { headers: tagged })
    },
    {
      readRepo: { unit: 'repo.actions', scope: 'repository' },
      query: t.Object({ branch: queryText(), event: queryText() }),
    },
  )
