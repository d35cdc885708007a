import { KindGuard, type TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'

interface KnownRoute {
  method: string
  path: string
  hooks: { response?: unknown }
}

export interface ResponseCheck {
  /** Takes the schemas of all routes, once the application is composed. */
  learn(routes: Iterable<KnownRoute>): void
  /** @throws Error for an answer that breaks the schema of its route: a fault of the program. A status without a schema passes. */
  check(route: string, status: number, value: unknown): void
}

/** Compares answers with the schemas of their routes, for tests and development. */
export function createResponseCheck(): ResponseCheck {
  const schemas = new Map<string, TSchema>()
  const compiled = new Map<TSchema, ReturnType<typeof TypeCompiler.Compile>>()
  const compile = (schema: TSchema) => {
    const known = compiled.get(schema) ?? TypeCompiler.Compile(schema)
    compiled.set(schema, known)
    return known
  }
  return {
    learn(routes) {
      for (const { method, path, hooks } of routes) {
        const byStatus = KindGuard.IsSchema(hooks.response) ? { 200: hooks.response } : (hooks.response ?? {})
        for (const [status, schema] of Object.entries(byStatus))
          if (KindGuard.IsSchema(schema)) schemas.set(`${method} ${path} ${status}`, schema)
      }
    },
    check(route, status, value) {
      const schema = schemas.get(`${route} ${status}`)
      const fault = schema && compile(schema).Errors(value).First()
      if (fault) throw new Error(`the answer of ${route} breaks its schema at ${fault.path}: ${fault.message}`)
    },
  }
}
