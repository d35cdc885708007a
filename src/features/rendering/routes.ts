import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { FileBody } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { MarkdownOption, MarkupOption, type MarkupOption as Option } from './schema.ts'
import { renderText } from './service.ts'

const notes = { 'x-produces': ['text/html', 'application/json'], 'x-refuses-as-text': [422] } as const

/** Rendered text has no business of its own in a browser: if it is opened as a page, nothing in it acts. */
const HEADERS = { 'content-security-policy': "default-src 'none'; sandbox", 'x-content-type-options': 'nosniff' }

export const renderingRoutes = (context: Context) =>
  new Elysia({ name: 'rendering', detail: { tags: ['miscellaneous'] } })
    .use(gate(context))
    .post(
      '/markdown',
      ({ actor, body, request }) => render(context, { actor, option: isForm(request) ? {} : body, request }),
      {
        login: { scope: [] },
        body: MarkdownOption,
        response: { 200: FileBody },
        detail: { operationId: 'renderMarkdown', summary: 'Markdown as HTML', ...notes },
      },
    )
    .post(
      '/markup',
      ({ actor, body, request }) => render(context, { actor, option: isForm(request) ? {} : body, request }),
      {
        login: { scope: [] },
        body: MarkupOption,
        response: { 200: FileBody },
        detail: { operationId: 'renderMarkup', summary: 'Text in any known form as HTML', ...notes },
      },
    )
    .post('/markdown/raw', ({ actor, body, request }) => render(context, { actor, option: { Text: body }, request }), {
      login: { scope: [] },
      body: t.String(),
      response: { 200: FileBody },
      detail: {
        operationId: 'renderMarkdownRaw',
        summary: 'The body, whatever its type, read as markdown, as HTML',
        'x-consumes': 'text/plain',
        ...notes,
      },
    })

/** Wire: the same below a repository, which is then the context; Gitea's description does not have them. */
export const repositoryRenderingRoutes = (context: Context) => {
  const readRepo = { scope: 'repository', login: true } as const
  const here = ({ repository, owner }: RepositoryAccess, option: Option): Option => ({
    ...option,
    Context: option.Context || `${owner.name}/${repository.name}`,
  })
  return new Elysia({ name: 'repository-rendering', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .post(
      '/markdown',
      ({ actor, repo, body, request }) => render(context, { actor, option: here(repo, body), request }),
      {
        readRepo,
        body: MarkdownOption,
        response: { 200: FileBody },
        detail: {
          operationId: 'repoRenderMarkdown',
          summary: 'Markdown as HTML, as it reads in a repository',
          ...notes,
        },
      },
    )
    .post(
      '/markup',
      ({ actor, repo, body, request }) => render(context, { actor, option: here(repo, body), request }),
      {
        readRepo,
        body: MarkupOption,
        response: { 200: FileBody },
        detail: {
          operationId: 'repoRenderMarkup',
          summary: 'Text in any known form as HTML, as it reads in a repository',
          ...notes,
        },
      },
    )
    .post(
      '/markdown/raw',
      ({ actor, repo, body, request }) => render(context, { actor, option: here(repo, { Text: body }), request }),
      {
        readRepo,
        body: t.String(),
        response: { 200: FileBody },
        detail: {
          operationId: 'repoRenderMarkdownRaw',
          summary: 'The body read as markdown, as HTML',
          'x-consumes': 'text/plain',
          ...notes,
        },
      },
    )
}

interface Call {
  actor: Actor | undefined
  option: Option
  request: Request
}

/**
 * Wire: Gitea sends the bare HTML, the specification a JSON string; the latter goes to those who ask for JSON. No text
 * is no body and no media type.
 */
async function render(context: Context, { actor, option, request }: Call): Promise<Response> {
  const html = await renderText(context, actor, option)
  if (wantsJson(request)) return Response.json(html, { headers: HEADERS })
  if (html === '') return new Response(null, { headers: HEADERS })
  return new Response(html, { headers: { 'content-type': 'text/html;charset=utf-8', ...HEADERS } })
}

/** Wire: the fields are read from JSON only, so a form says nothing. */
const isForm = (request: Request): boolean =>
  request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') === true

const wantsJson = (request: Request): boolean =>
  /(?:^|[,\s])application\/json\b/i.test(request.headers.get('accept') ?? '')
