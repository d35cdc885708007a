import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { Issue, presentIssue } from '../../wire/issue.ts'
import { loadIssues } from '../issues/load.ts'
import { shownPlace } from '../issues/place.ts'
import { NewIssuePinsAllowed } from './schema.ts'
import { movePin, pinIssue, unpinIssue } from './service.ts'
import { listPinned, MAX_PINS } from './store.ts'

const administer = { scope: 'issue', level: 'admin' } as const
const nothing = { 204: t.Void() }

export const issuePinRoutes = (context: Context) =>
  new Elysia({ name: 'issuePins', prefix: '/repos/:owner/:repo/issues/:index/pin', detail: { tags: ['issue'] } })
    .use(gate(context))
    .post(
      '',
      async ({ actor, repo, issue: { issue }, set }) => {
        await pinIssue(context, { actor, repo, issue })
        set.status = 204
      },
      {
        changeIssue: administer,
        response: nothing,
        detail: { operationId: 'pinIssue', summary: 'Pin an issue, one of three at most', 'x-refuses': [409] },
      },
    )
    .delete(
      '',
      async ({ actor, repo, issue: { issue }, set }) => {
        await unpinIssue(context, { actor, repo, issue })
        set.status = 204
      },
      {
        changeIssue: administer,
        response: nothing,
        detail: { operationId: 'unpinIssue', summary: 'Take the pin off an issue' },
      },
    )
    .patch(
      '/:position',
      async ({ actor, repo, issue: { issue }, params, set }) => {
        await movePin(context, { actor, repo, issue }, params.position)
        set.status = 204
      },
      {
        changeIssue: administer,
        response: nothing,
        detail: {
          operationId: 'moveIssuePin',
          summary: 'Move a pinned issue to a position, from 1',
          'x-refuses': [422],
        },
      },
    )

/** What is pinned in a repository. */
export const pinnedRoutes = (context: Context) =>
  new Elysia({ name: 'pinned', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/issues/pinned',
      async ({ actor, repo, request, set }) => {
        const found = await listPinned(context.db, { repositoryId: repo.repository.id, isPull: false })
        const loaded = await loadIssues(context.db, found)
        const versions = loaded.map(({ version }) => version)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, ...versions])
        if (unchanged) return unchanged
        const viewer = viewerOf(context, actor)
        return loaded.map((one) => presentIssue(one, shownPlace(repo), viewer))
      },
      {
        readRepo: { unit: 'repo.issues', scope: 'issue' },
        response: { 200: t.Array(Issue), 304: Unchanged },
        detail: { operationId: 'repoListPinnedIssues', summary: 'List the pinned issues in their order' },
      },
    )
    .get(
      '/new_pin_allowed',
      async ({ repo: { repository } }) => {
        const [issues, pulls] = await Promise.all(
          [false, true].map((isPull) => listPinned(context.db, { repositoryId: repository.id, isPull })),
        )
        return { issues: hasRoom(issues), pull_requests: hasRoom(pulls) }
      },
      {
        readRepo: { scope: 'repository' },
        response: { 200: NewIssuePinsAllowed },
        detail: { operationId: 'repoNewPinAllowed', summary: 'Whether another issue or pull request may be pinned' },
      },
    )

const hasRoom = (pinned: readonly unknown[] | undefined): boolean => (pinned?.length ?? 0) < MAX_PINS
