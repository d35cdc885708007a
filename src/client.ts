import { treaty } from '@elysiajs/eden'
import type { App } from './app/app.ts'

export type { App } from './app/app.ts'

export interface ClientOptions {
  /** An access token. Without it the client is a visitor. */
  token?: string
  /** Takes the place of the global `fetch`, for proxies and tests. */
  fetcher?: typeof fetch
}

/**
 * A typed client of the API: `createClient(url, { token }).api.v1.user.get()`. It imports types only from the server, so
 * it also runs in a browser.
 * @param baseUrl address of the service, with the path it lives under, if any
 */
export function createClient(baseUrl: string, { token, fetcher }: ClientOptions = {}) {
  return treaty<App>(baseUrl.replace(/\/$/, ''), {
    headers: token === undefined ? {} : { authorization: `token ${token}` },
    // Times stay the texts that their types say; Eden would make Date objects of everything that looks like one.
    parseDate: false,
    keepDomain: true,
    ...(fetcher === undefined ? {} : { fetcher }),
  })
}

export type Client = ReturnType<typeof createClient>
