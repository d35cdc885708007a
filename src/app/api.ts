import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { userRoutes } from '../features/users/routes.ts'
import { versionRoutes } from '../features/version/routes.ts'

/** The features below `/api/v1`, one instance each, so that the types stay quick to check. */
export const api = (context: Context) =>
  new Elysia({ name: 'api', prefix: '/api/v1' }).use(versionRoutes(context)).use(userRoutes(context))
