import { type ConnectRouter, createConnectRouter, createContextValues } from '@connectrpc/connect'
import { universalServerRequestFromFetch, universalServerResponseToFetch } from '@connectrpc/connect/protocol'
import { Elysia } from 'elysia'
import type { ActionsRunnerRow } from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import { missingRoute } from '../../http/missing-route.ts'
import { QUEUED_CHANNEL } from '../actions-runs/channel.ts'
import { newsOf } from '../actions-runs/news.ts'
import { requestKey } from './caller.ts'
import { gzipCompression } from './compression.ts'
import { protocolErrors } from './errors.ts'
import { fetchTask } from './fetch-task.ts'
import { PingService } from './messages/ping_pb.js'
import { RunnerService } from './messages/runner_pb.js'
import { declare, register } from './register.ts'
import { resultOf } from './results.ts'
import { taskMessage } from './task-message.ts'
import { updateLog } from './update-log.ts'
import { updateTask } from './update-task.ts'

const PREFIX = '/api/actions'

/** The protocol of runners: Connect RPC, protobuf or JSON. No part of the API, so not in its description. */
export const runnerProtocolRoutes = (context: Context) => {
  const handlers = handlersOf(context)
  return new Elysia({ name: 'runner-protocol', detail: { hide: true } }).post(
    `${PREFIX}/:service/:method`,
    async ({ request, params }) => {
      const handler = handlers.get(`/${params.service}/${params.method}`)
      if (!handler) return missingRoute()
      const asked = universalServerRequestFromFetch(request, { httpVersion: '1.1' })
      const contextValues = createContextValues().set(requestKey, request)
      return universalServerResponseToFetch(await handler({ ...asked, contextValues }))
    },
    { parse: 'none' },
  )
}

function handlersOf(context: Context) {
  const queued = newsOf(context.channels, QUEUED_CHANNEL)
  const router: ConnectRouter = createConnectRouter({
    acceptCompression: [gzipCompression],
    readMaxBytes: context.config.maxBodyBytes,
    interceptors: [protocolErrors(context)],
    grpc: false,
    grpcWeb: false,
  })
  router.service(PingService, { ping: ({ data }) => ({ data: `Hello, ${data}!` }) })
  router.service(RunnerService, {
    async register(request, call) {
      const { runner, token } = await register(context, request, call)
      return { runner: { ...describe(runner), token } }
    },
    async declare(request, call) {
      return { runner: describe(await declare(context, request, call)) }
    },
    async fetchTask({ tasksVersion }, call) {
      const claimed = await fetchTask(context, queued, call)
      // Wire: a runner would ask less if the number grew. The answer waits for work instead.
      return { tasksVersion, ...(claimed && { task: taskMessage(claimed) }) }
    },
    async updateTask(request, call) {
      const { task, conclusion, outputs } = await updateTask(context, request, call)
      return { state: { id: BigInt(task.id), result: resultOf(conclusion) }, sentOutputs: outputs }
    },
    async updateLog(request, call) {
      return { ackIndex: BigInt(await updateLog(context, request, call)) }
    },
  })
  return new Map(router.handlers.map((handler) => [handler.requestPath, handler]))
}

const describe = ({ id, uuid, name, version, labels, isEphemeral }: ActionsRunnerRow) => ({
  id: BigInt(id),
  uuid,
  name,
  version,
  labels,
  ephemeral: isEphemeral,
})
