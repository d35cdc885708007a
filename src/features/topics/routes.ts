import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryText } from '../../http/query.ts'
import { wireTime } from '../../kernel/time.ts'
import { int64 } from '../../wire/fields.ts'
import { type CountedTopic, searchTopics } from './search.ts'
import { addTopic, pageOfTopics, removeTopic, setTopics } from './service.ts'

const TopicName = t.Object({ topics: t.Array(t.String()) }, { $id: 'TopicName' })
const RepoTopicOptions = t.Object(
  { topics: t.Optional(t.Array(t.String({ maxLength: 255 }), { maxItems: 1000 })) },
  { $id: 'RepoTopicOptions' },
)
const TopicResponse = t.Object(
  {
    id: int64(),
    topic_name: t.String(),
    repo_count: int64({ description: 'Repositories that the caller may see' }),
    created: t.String({ format: 'date-time' }),
    updated: t.String({ format: 'date-time' }),
  },
  { $id: 'TopicResponse' },
)
/** Wire: Gitea describes a list and answers with this object; clients read the object. */
const TopicListResponse = t.Object({ topics: t.Array(TopicResponse) }, { $id: 'TopicListResponse' })

const presentTopic = ({ id, name, count, createdAt, updatedAt }: CountedTopic): typeof TopicResponse.static => ({
  id,
  topic_name: name,
  repo_count: count,
  created: wireTime(createdAt),
  updated: wireTime(updatedAt),
})

const change = { level: 'admin', scope: 'repository', evenArchived: true } as const

export const topicRoutes = (context: Context) =>
  new Elysia({ name: 'topics', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/repos/:owner/:repo/topics',
      ({ actor, repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        total(repo.repository.topics.length)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, page.offset, page.limit])
        if (unchanged) return unchanged
        return { topics: pageOfTopics(repo.repository, page) }
      },
      {
        readRepo: { scope: 'repository' },
        query: t.Object(pageQuery),
        response: { 200: TopicName, 304: Unchanged },
        detail: { operationId: 'repoListTopics', summary: 'Topics of a repository', 'x-list': 'total' },
      },
    )
    .put(
      '/repos/:owner/:repo/topics',
      async ({ repo, body, set }) => {
        await setTopics(context, repo.repository.id, body.topics ?? [])
        set.status = 204
      },
      {
        changeRepo: change,
        body: RepoTopicOptions,
        response: { 204: t.Void() },
        detail: { operationId: 'repoUpdateTopics', summary: 'Replace the topics of a repository' },
      },
    )
    .put(
      '/repos/:owner/:repo/topics/:topic',
      async ({ repo, params, set }) => {
        await addTopic(context, repo.repository.id, params.topic)
        set.status = 204
      },
      {
        changeRepo: change,
        response: { 204: t.Void() },
        detail: { operationId: 'repoAddTopic', summary: 'Add a topic to a repository', 'x-refuses': [422] },
      },
    )
    .delete(
      '/repos/:owner/:repo/topics/:topic',
      async ({ repo, params, set }) => {
        await removeTopic(context, repo.repository.id, params.topic)
        set.status = 204
      },
      {
        changeRepo: change,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteTopic', summary: 'Remove a topic from a repository', 'x-refuses': [422] },
      },
    )
    .get(
      '/topics/search',
      async ({ actor, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await searchTopics(context, actor, { text: query.q ?? '', page })
        total(found.total)
        return { topics: found.rows.map(presentTopic) }
      },
      {
        open: { scope: 'repository' },
        query: t.Object({ ...pageQuery, q: queryText() }),
        response: { 200: TopicListResponse },
        detail: { operationId: 'topicSearch', summary: 'Search topics', 'x-list': 'total' },
      },
    )
