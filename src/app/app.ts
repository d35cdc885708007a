import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { archivePages } from '../features/archives/routes.ts'
import { avatarRoutes } from '../features/avatars/routes.ts'
import { healthRoutes } from '../features/health/routes.ts'
import { nodeInfoDiscovery } from '../features/nodeinfo/routes.ts'
import { rawPages } from '../features/raw/routes.ts'
import { transportRoutes } from '../features/transport/routes.ts'
import { jsonAnswers } from '../http/answers.ts'
import { bodyReader } from '../http/body.ts'
import { errorResponse } from '../http/errors.ts'
import { allowedMethods } from '../http/methods.ts'
import { describeApi } from '../http/openapi.ts'
import { plainQueries } from '../http/plain-query.ts'
import { referenceRoutes } from '../http/reference.ts'
import { version } from '../version.ts'
import { confirmEmailPage } from '../web/confirm-email.ts'
import { homePage } from '../web/home.ts'
import { api } from './api.ts'

/**
 * The whole application as one web-standard handler: hooks that concern every route first, then the areas.
 */
export function createApp(context: Context) {
  const bodies = bodyReader(context.config.maxBodyBytes)
  const app = new Elysia({
    name: 'hearth',
    aot: true,
    normalize: true,
    // Without it a path is looked for past the eleventh character: at `http://git/` its first part would be lost.
    handler: { standardHostname: false },
  })
    .onError({ as: 'global' }, ({ code, error, request }) => {
      if (code === 'NOT_FOUND') return unmatched(allowed(request), request)
      return errorResponse(context, { code, error, request })
    })
    .use(jsonAnswers(context.config))
    // Before the reader of bodies, which concerns all routes after it: Git's bodies are streams.
    .use(transportRoutes(context))
    .use(bodies.plugin)
    .use(plainQueries())
    .use(healthRoutes(context))
    .use(nodeInfoDiscovery(context))
    .use(avatarRoutes(context))
    .use(homePage(context))
    .use(confirmEmailPage(context))
    .use(rawPages(context))
    .use(archivePages(context))
    .use(api(context))
  if (context.config.enableSwagger) {
    const about = { title: 'Hearth API', version, baseUrl: context.baseUrl }
    app.use(referenceRoutes(() => describeApi(app, about)))
  }
  bodies.learn(app.routes)
  const allowed = allowedMethods(app.routes)
  return app
}

export type App = ReturnType<typeof createApp>

/** Wire: a known path with another method is 405 before anything else; an unknown path is a plain 404. */
function unmatched(methods: string[], request: Request): Response {
  const options = request.method === 'OPTIONS' && methods.length > 0
  if (methods.length > 0)
    return new Response(null, { status: options ? 204 : 405, headers: { allow: methods.join(', ') } })
  return new Response('404 page not found\n', { status: 404, headers: { 'content-type': 'text/plain;charset=utf-8' } })
}
