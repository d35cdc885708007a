import { Elysia } from 'elysia'

/**
 * Fixed paths of the Gitea API that are not built yet and that would otherwise be taken for a repository or an issue of that name.
 * Whoever builds one deletes its line.
 */
const UNBUILT = ['/repos/issues/search', '/repos/:owner/:repo/issues/pinned'] as const

export const unbuiltRoutes = () => {
  const routes = new Elysia({ name: 'unbuilt', prefix: '/api/v1', detail: { hide: true } })
  for (const path of UNBUILT) routes.get(path, missingRoute)
  return routes
}

/** Wire: a path that no route has is a plain 404. */
export const missingRoute = (): Response =>
  new Response('404 page not found\n', { status: 404, headers: { 'content-type': 'text/plain;charset=utf-8' } })
