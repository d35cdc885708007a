import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { answerLfs, lfsAnswer, readBody } from '../../http/lfs-answer.ts'
import { unauthorized } from '../../kernel/errors.ts'
import { answerDownload, answerUpload, requireBatch } from './batch.ts'
import { repositoryForDownload, repositoryForUpload } from './gate.ts'
import { answerLocks, answerVerify, createLock, unlock } from './locks.ts'
import { receiveObject, verifyObject } from './objects.ts'
import { BatchRequest, CreateLock, NamedObject, Unlock, VerifyLocks } from './schema.ts'
import { sendObject } from './serve.ts'

interface RepositoryPath {
  owner: string
  repo: string
}

/** Bodies are read here, when their sender was admitted: those of objects are streams. */
const raw = { parse: 'none' } as const

/** Git LFS over HTTP (docs/api of git-lfs). No part of the API, so not in its description. */
export function lfsRoutes(context: Context) {
  const routes = new Elysia({ name: 'lfs', prefix: '/:owner/:repo/info/lfs', detail: { hide: true } })
  if (!context.config.lfsEnabled) return routes
  const answer = (request: Request, handle: () => Promise<Response>) => answerLfs(context, request, handle)
  return routes
    .post('/objects/batch', ({ request, params }) => answer(request, () => batch(context, request, params)), raw)
    .get('/objects/:oid', ({ request, params }) => answer(request, () => download(context, request, params)))
    .put('/objects/:oid/:size', ({ request, params }) => answer(request, () => upload(context, request, params)), raw)
    .post('/verify', ({ request, params }) => answer(request, () => verify(context, request, params)), raw)
    .get('/locks', ({ request, params }) => answer(request, () => list(context, request, params)))
    .post('/locks', ({ request, params }) => answer(request, () => lock(context, request, params)), raw)
    .post('/locks/verify', ({ request, params }) => answer(request, () => verifyLocks(context, request, params)), raw)
    .post('/locks/:id/unlock', ({ request, params }) => answer(request, () => free(context, request, params)), raw)
}

/** Read as a download until the body says more: who may not even read learns nothing of what was sent. */
async function batch(context: Context, request: Request, path: RepositoryPath): Promise<Response> {
  const access = await repositoryForDownload(context, request, path)
  const asked = await readBody(request, BatchRequest)
  if (asked.operation === 'download') {
    requireBatch(context, asked)
    return lfsAnswer(await answerDownload(context, access, asked))
  }
  const pushed = await repositoryForUpload(context, request, path)
  requireBatch(context, asked)
  return lfsAnswer(await answerUpload(context, pushed, asked))
}

async function download(context: Context, request: Request, path: RepositoryPath & { oid: string }): Promise<Response> {
  const { repo } = await repositoryForDownload(context, request, path)
  return sendObject(context, request, { repo, oid: path.oid })
}

async function upload(
  context: Context,
  request: Request,
  path: RepositoryPath & { oid: string; size: string },
): Promise<Response> {
  const access = await repositoryForUpload(context, request, path)
  const content = request.body ?? new Blob([]).stream()
  const size = /^\d{1,15}$/.test(path.size) ? Number(path.size) : -1
  await receiveObject(context, access, { oid: path.oid, size, content, signal: request.signal })
  return lfsAnswer({})
}

async function verify(context: Context, request: Request, path: RepositoryPath): Promise<Response> {
  const access = await repositoryForUpload(context, request, path)
  await verifyObject(context, access, await readBody(request, NamedObject))
  return lfsAnswer({})
}

/** Wire: visitors do not see who has locked what. */
async function list(context: Context, request: Request, path: RepositoryPath): Promise<Response> {
  const { actor, repo } = await repositoryForDownload(context, request, path)
  if (!actor) throw unauthorized()
  const { searchParams } = new URL(request.url)
  const word = (name: string) => searchParams.get(name) || undefined
  const asked = { path: word('path'), id: word('id'), cursor: word('cursor'), limit: word('limit') }
  return lfsAnswer(await answerLocks(context, repo, asked))
}

async function lock(context: Context, request: Request, params: RepositoryPath): Promise<Response> {
  const access = await repositoryForUpload(context, request, params)
  const { path } = await readBody(request, CreateLock)
  const { lock, isNew } = await createLock(context, access, path)
  return isNew ? lfsAnswer({ lock }, 201) : lfsAnswer({ lock, message: 'already created lock' }, 409)
}

async function verifyLocks(context: Context, request: Request, path: RepositoryPath): Promise<Response> {
  const access = await repositoryForUpload(context, request, path)
  return lfsAnswer(await answerVerify(context, access, await readBody(request, VerifyLocks)))
}

async function free(context: Context, request: Request, path: RepositoryPath & { id: string }): Promise<Response> {
  const access = await repositoryForUpload(context, request, path)
  const { force = false } = await readBody(request, Unlock)
  return lfsAnswer({ lock: await unlock(context, access, { id: path.id, isForced: force }) })
}
