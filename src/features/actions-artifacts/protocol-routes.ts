import type { Static, TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { ActionsArtifactRow } from '../../../db/schema/actions-artifacts.ts'
import type { RuntimeTask } from '../../auth/runtime-tokens.ts'
import type { Context } from '../../context.ts'
import { readText, UnreadableBody } from '../../http/body.ts'
import { exchangeOf } from '../../http/exchange.ts'
import { readMessage } from '../../http/message-body.ts'
import { countJob } from '../../http/rate-limit.ts'
import { badRequest, notFound } from '../../kernel/errors.ts'
import { wireTime } from '../../kernel/time.ts'
import { readBlockList } from './block-list.ts'
import { commitBlocks, getUploading, stageBlock } from './blocks.ts'
import {
  CreateArtifactRequest,
  FinalizeArtifactRequest,
  ListArtifactsRequest,
  NamedArtifactRequest,
} from './messages.ts'
import { sendArtifact } from './serve.ts'
import { createArtifact, deleteOfRun, finalizeArtifact, getOfRun, listArtifacts } from './service.ts'
import { requireSignature, signedQuery } from './signed-address.ts'
import { answerTwirp, requireRuntimeTask } from './twirp.ts'

const SERVICE = '/twirp/github.actions.results.api.v1.ArtifactService'
const MAX_MESSAGE_BYTES = 64 * 1024
/** 10,000 ids and what is around each. */
const MAX_LIST_BYTES = 2 * 1024 * 1024

/**
 * What actions/upload-artifact@v4 and actions/download-artifact@v4 speak: Twirp in JSON for artifacts, and for their bytes the two requests
 * of Azure's storage that its client makes (Put Block, Put Block List). No part of the API, so not in its description.
 */
export const artifactProtocolRoutes = (context: Context) =>
  new Elysia({ name: 'artifact-protocol', prefix: SERVICE, detail: { hide: true } })
    .post(
      '/:method',
      ({ request, params }) =>
        answerTwirp(context, request, async () => {
          const task = await requireRuntimeTask(context, request)
          const method = methods.get(params.method)
          if (!method) throw notFound(`no method ${params.method}`)
          return method(context, request, task)
        }),
      { parse: 'none' },
    )
    .put('/UploadArtifact', ({ request }) => upload(context, request), { parse: 'none' })
    .get('/DownloadArtifact', ({ request }) =>
      sendArtifact(context, request, readSigned(context, 'download', new URL(request.url).searchParams)),
    )

type Method = (context: Context, request: Request, task: RuntimeTask) => Promise<object>

const method =
  <Schema extends TSchema>(
    schema: Schema,
    handle: (context: Context, task: RuntimeTask, message: Static<Schema>) => Promise<object>,
  ): Method =>
  async (context, request, task) =>
    handle(context, task, await readMessage(request, schema, { maxBytes: MAX_MESSAGE_BYTES }))

const methods: ReadonlyMap<string, Method> = new Map([
  [
    'CreateArtifact',
    method(CreateArtifactRequest, async (context, task, message) => {
      const { id } = await createArtifact(context, task, message)
      return { ok: true, signed_upload_url: addressOf(context, 'upload', id) }
    }),
  ],
  [
    'FinalizeArtifact',
    method(FinalizeArtifactRequest, async (context, task, message) => {
      const { id } = await finalizeArtifact(context, task, message)
      return { ok: true, artifact_id: String(id) }
    }),
  ],
  [
    'ListArtifacts',
    method(ListArtifactsRequest, async (context, task, message) => {
      const rows = await listArtifacts(context, task, message)
      return { artifacts: rows.map(presentListed) }
    }),
  ],
  [
    'GetSignedArtifactURL',
    method(NamedArtifactRequest, async (context, task, message) => {
      const { id } = await getOfRun(context, task, message)
      return { signed_url: addressOf(context, 'download', id) }
    }),
  ],
  [
    'DeleteArtifact',
    method(NamedArtifactRequest, async (context, task, message) => {
      const { id } = await deleteOfRun(context, task, message)
      return { ok: true, artifact_id: String(id) }
    }),
  ],
])

/** Wire: int64 is a text in the JSON of protobuf. */
const presentListed = ({ id, runId, jobId, name, sizeBytes, sha256, createdAt }: ActionsArtifactRow) => ({
  workflow_run_backend_id: String(runId),
  workflow_job_run_backend_id: String(jobId),
  database_id: String(id),
  name,
  size: String(sizeBytes ?? 0),
  created_at: wireTime(createdAt),
  digest: `sha256:${sha256}`,
})

function addressOf(context: Context, purpose: 'upload' | 'download', id: number): string {
  const method = purpose === 'upload' ? 'UploadArtifact' : 'DownloadArtifact'
  return `${context.baseUrl}${SERVICE}/${method}?artifactID=${id}&${signedQuery(context, purpose, id)}`
}

/** The artifact that an address is for. @throws Refusal 401 */
function readSigned(context: Context, purpose: 'upload' | 'download', query: URLSearchParams): number {
  const artifactId = Number(query.get('artifactID'))
  requireSignature(context, { purpose, artifactId }, query)
  return artifactId
}

/** Wire: Azure's client wants 201, and reads nothing of the answer. */
async function upload(context: Context, request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams
  const row = await getUploading(context, readSigned(context, 'upload', query))
  await countJob(context, exchangeOf(request), row.taskId)
  const what = query.get('comp')
  if (what === 'block') await stageBlock(context, row, { blockId: query.get('blockid') ?? '', request })
  else if (what === 'blocklist') await commitBlocks(context, row, { blockIds: await readIds(request), request })
  else throw badRequest('comp: block or blocklist')
  return new Response(null, { status: 201 })
}

async function readIds(request: Request): Promise<string[]> {
  const text = await readText(request, MAX_LIST_BYTES)
  if (text instanceof UnreadableBody) throw text.refusal
  return readBlockList(text)
}
