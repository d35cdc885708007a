import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { queryText } from '../../http/query.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { EditorConfigDefinition } from './schema.ts'
import { getEditorConfig } from './service.ts'

export const editorConfigRoutes = (context: Context) =>
  new Elysia({ name: 'editorconfig', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/editorconfig/*',
      async ({ actor, repo, params, query, request, set }) => {
        const path = decodeWildcard(params)
        const { sha, read } = await getEditorConfig(context, repo, { path, ref: query.ref })
        return unchangedAnswer(context, { actor, request, set }, [repo.version, sha, path]) ?? read()
      },
      {
        readRepo: { unit: 'repo.code', scope: 'repository' },
        query: t.Object({ ref: queryText({ description: 'Branch, tag or commit; the default branch without it' }) }),
        response: { 200: EditorConfigDefinition, 304: Unchanged },
        detail: {
          operationId: 'repoGetEditorConfig',
          summary: 'What `.editorconfig` at the root says of a file',
          'x-parameters': { '*': 'filepath' },
        },
      },
    )
