import type { AnyElysia } from 'elysia'
import { type Config, loadConfig } from '../config.ts'
import type { Context } from '../context.ts'
import { apiWords } from '../http/openapi/glossary/glossary.ts'
import type { JsonObject } from '../http/openapi/json.ts'
import { describeApi } from '../http/openapi.ts'
import { version } from '../version.ts'
import { api } from './api.ts'

/** The API description as it is with the default settings, without a database or any other part of a running service. */
export function describeRoutes(): Promise<JsonObject> {
  const baseUrl = 'http://localhost:3000'
  return describe(api(contextOf({ config: loadConfig({}), baseUrl })), baseUrl)
}

/** The API description of the routes of an application. @param baseUrl the address clients use, without a trailing slash */
export const describe = (app: AnyElysia, baseUrl: string): Promise<JsonObject> =>
  describeApi(app, { title: 'Hearth API', version, baseUrl, words: apiWords })

/** What routes read when they are made. The rest of the context is for requests, and none comes. */
function contextOf(known: Pick<Context, 'baseUrl'> & { config: Config }): Context
function contextOf(known: object): object {
  return known
}
