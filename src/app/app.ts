import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { artifactProtocolRoutes } from '../features/actions-artifacts/protocol-routes.ts'
import { workflowBadges } from '../features/actions-workflows/badge-routes.ts'
import { archivePages } from '../features/archives/routes.ts'
import { attachmentPages } from '../features/attachments/routes.ts'
import { avatarRoutes } from '../features/avatars/routes.ts'
import { healthRoutes } from '../features/health/routes.ts'
import { lfsRoutes } from '../features/lfs/routes.ts'
import { nodeInfoDiscovery } from '../features/nodeinfo/routes.ts'
import { rawPages } from '../features/raw/routes.ts'
import { releaseDownloadPages } from '../features/releases/asset-routes.ts'
import { runnerProtocolRoutes } from '../features/runner-protocol/routes.ts'
import { transportRoutes } from '../features/transport/routes.ts'
import { jsonAnswers } from '../http/answers.ts'
import { bodyReader } from '../http/body.ts'
import { errorResponse } from '../http/errors.ts'
import { exchangeOf } from '../http/exchange.ts'
import { allowedMethods } from '../http/methods.ts'
import { missingRoute } from '../http/missing-route.ts'
import { plainQueries } from '../http/plain-query.ts'
import { referenceRoutes } from '../http/reference.ts'
import { createResponseCheck } from '../http/response-check.ts'
import { oauthRoutes } from '../oauth/routes.ts'
import { accountKeyPages } from '../web/account-keys.ts'
import { assetRoutes } from '../web/assets.ts'
import { confirmEmailPage } from '../web/confirm-email.ts'
import { errorPage } from '../web/error-page.ts'
import { goGet } from '../web/go-get.ts'
import { homePage } from '../web/home.ts'
import { oauthDevicePages } from '../web/oauth-device-pages.ts'
import { oauthLogoutPage } from '../web/oauth-logout-page.ts'
import { oauthPages } from '../web/oauth-pages.ts'
import { providerPages } from '../web/provider-pages.ts'
import { recoveryPages } from '../web/recovery-pages.ts'
import { registrationPages } from '../web/registration-pages.ts'
import { settingsPages } from '../web/settings/settings.ts'
import { signInPages } from '../web/sign-in-pages.ts'
import { api } from './api.ts'
import { describe } from './describe.ts'

/**
 * The whole application as one web-standard handler: hooks that concern every route first, then the areas.
 */
export function createApp(context: Context) {
  const bodies = bodyReader(context.config.maxBodyBytes)
  const check = context.config.checkResponses ? createResponseCheck() : undefined
  const app = new Elysia({
    name: 'hearth',
    aot: true,
    normalize: true,
    // Without it a path is looked for past the eleventh character: at `http://git/` its first part would be lost.
    handler: { standardHostname: false },
  })
    .onError({ as: 'global' }, ({ code, error, request }) => {
      if (code === 'NOT_FOUND') return unmatched(allowed(request), request)
      const thrown = { code, error, request }
      return exchangeOf(request).isPage ? errorPage(context, thrown) : errorResponse(context, thrown)
    })
    // Before any route: a folder of a module may have the name of one.
    .onRequest(({ request }) => goGet(context, request))
    .use(bearer())
    // The gates, and the routes of Git, read it from there.
    .derive({ as: 'global' }, ({ request, bearer }) => {
      exchangeOf(request).bearer = bearer
    })
    .use(jsonAnswers(check))
    // Before the reader of bodies, which concerns all routes after it: Git's bodies are streams.
    .use(transportRoutes(context))
    .use(runnerProtocolRoutes(context))
    .use(artifactProtocolRoutes(context))
    .use(lfsRoutes(context))
    .use(oauthRoutes(context))
    .use(bodies.plugin)
    .use(plainQueries())
    .use(healthRoutes(context))
    .use(nodeInfoDiscovery(context))
    .use(avatarRoutes(context))
    .use(homePage(context))
    .use(signInPages(context))
    .use(providerPages(context))
    .use(oauthPages(context))
    .use(oauthLogoutPage(context))
    .use(oauthDevicePages(context))
    .use(registrationPages(context))
    .use(recoveryPages(context))
    .use(settingsPages(context))
    .use(confirmEmailPage(context))
    .use(assetRoutes())
    .use(accountKeyPages(context))
    .use(rawPages(context))
    .use(archivePages(context))
    .use(workflowBadges(context))
    .use(attachmentPages(context))
    .use(releaseDownloadPages(context))
    .use(api(context))
  if (context.config.enableSwagger) {
    app.use(referenceRoutes(() => describe(app, context.baseUrl)))
  }
  bodies.learn(app.routes)
  check?.learn(app.routes)
  const allowed = allowedMethods(app.routes)
  return app
}

export type App = ReturnType<typeof createApp>

/** Wire: a known path with another method is 405 before anything else; an unknown path is a plain 404. */
function unmatched(methods: string[], request: Request): Response {
  const options = request.method === 'OPTIONS' && methods.length > 0
  if (methods.length > 0)
    return new Response(null, { status: options ? 204 : 405, headers: { allow: methods.join(', ') } })
  return missingRoute()
}
