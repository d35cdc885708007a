import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import type { GitService } from '../../git/model.ts'
import { streamed } from '../../http/download.ts'
import { answerGit, gitClient, repositoryForFetch, repositoryForPush, withFolder } from '../../http/git-gate.ts'
import { forbidden } from '../../kernel/errors.ts'
import { afterBody, drainBody, openBody, requireMediaType } from './body.ts'
import { folderToFetch, folderToPush } from './folder.ts'
import { takePush } from './push.ts'

const RESULT_OF_PUSH = 'application/x-git-receive-pack-result'

interface GitPath {
  owner: string
  repo: string
}

/** Smart HTTP (gitprotocol-http(5)), protocol versions 0 to 2. No part of the API, so not in its description. */
export const transportRoutes = (context: Context) =>
  new Elysia({ name: 'transport', detail: { hide: true } })
    .get('/:owner/:repo/info/refs', ({ request, params }) =>
      answerGit(context, request, () => advertise(context, request, params)),
    )
    .post(
      '/:owner/:repo/git-upload-pack',
      ({ request, params }) => answerGit(context, request, () => fetchPack(context, request, params)),
      { parse: 'none' },
    )
    .post(
      '/:owner/:repo/git-receive-pack',
      ({ request, params }) => answerGit(context, request, () => push(context, request, params)),
      { parse: 'none' },
    )

async function advertise(context: Context, request: Request, path: GitPath): Promise<Response> {
  const service = serviceOf(request)
  const admission = async () => {
    if (service === 'upload-pack') {
      const access = await repositoryForFetch(context, request, path)
      return { access, id: await folderToFetch(context, access) }
    }
    const access = await repositoryForPush(context, request, path)
    return { access, id: await folderToPush(context, access) }
  }
  const { access, id } = await admission()
  const call = { signal: request.signal, client: gitClient(context, request, access.actor) }
  const option = { protocol: protocolOf(request) }
  const served = await withFolder(admission, () => context.git.advertise(id, service, option, call))
  return answer(served.bytes ?? served.stream, `application/x-git-${service}-advertisement`)
}

/** @throws Refusal 403 without one of the two services: the old protocol, which reads files, and any other program. */
function serviceOf(request: Request): GitService {
  const named = new URL(request.url).searchParams.getAll('service')
  if (named.length === 0) throw forbidden('only the smart protocol is served: git 1.6.6 or newer speaks it')
  const [service] = named
  if (named.length === 1 && service === 'git-upload-pack') return 'upload-pack'
  if (named.length === 1 && service === 'git-receive-pack') return 'receive-pack'
  throw forbidden('this service is not offered')
}

async function fetchPack(context: Context, request: Request, path: GitPath): Promise<Response> {
  const admission = () => repositoryForFetch(context, request, path)
  const access = await admission()
  requireMediaType(request, 'application/x-git-upload-pack-request')
  const id = await folderToFetch(context, access)
  const body = openBody(request, context.config.maxBodyBytes)
  const question = {
    body: body.stream,
    protocol: protocolOf(request),
    signal: request.signal,
    client: gitClient(context, request, access.actor),
  }
  const served = await withFolder(admission, () => context.git.serve(id, 'upload-pack', question))
  const type = 'application/x-git-upload-pack-result'
  return answer(served.bytes ?? (await afterBody(served.stream, body)), type)
}

async function push(context: Context, request: Request, path: GitPath): Promise<Response> {
  const access = await repositoryForPush(context, request, path)
  requireMediaType(request, 'application/x-git-receive-pack-request')
  const maxBytes = context.config.maxPushBytes
  const body = openBody(request, maxBytes)
  const { signal } = request
  const outcome = await withFolder(
    () => repositoryForPush(context, request, path),
    () => takePush(context, { access, body: body.stream, protocol: protocolOf(request), maxBytes, signal }),
  )
  if ('answer' in outcome) return answer(await afterBody(outcome.answer, body), RESULT_OF_PUSH)
  await drainBody(outcome.rest)
  return answer(outcome.report, RESULT_OF_PUSH)
}

const protocolOf = (request: Request): string | undefined => request.headers.get('git-protocol') ?? undefined

function answer(body: ReadableStream<Uint8Array> | Uint8Array, type: string): Response {
  const headers = { 'content-type': type, 'cache-control': 'no-cache, max-age=0, must-revalidate' }
  return body instanceof Uint8Array ? new Response(Buffer.from(body), { headers }) : streamed(body, { headers })
}
