import { Elysia } from 'elysia'
import { missingRoute } from '../http/missing-route.ts'

/**
 * Fixed paths of the Gitea API that are not built yet and that would otherwise be taken for a repository or an issue of that name.
 * Whoever builds one deletes its line.
 */
const UNBUILT = ['/repos/:owner/:repo/issues/pinned'] as const

export const unbuiltRoutes = () => {
  const routes = new Elysia({ name: 'unbuilt', prefix: '/api/v1', detail: { hide: true } })
  for (const path of UNBUILT) routes.get(path, missingRoute)
  return routes
}
