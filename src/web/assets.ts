import { Elysia } from 'elysia'
import { storeBody } from '../http/stored.ts'
import { once } from '../kernel/once.ts'
import script from './passkey.js' with { type: 'text' }
import style from './style.css' with { type: 'text' }

interface Asset {
  /** Names the content: the file of one address never changes, so browsers may keep it for ever. */
  path: string
  type: string
  text: string
}

const asset = (name: string, type: string, text: string): Asset => ({
  path: `/assets/web/${Bun.hash(text).toString(36)}/${name}`,
  type,
  text,
})

export const stylesheet = asset('style.css', 'text/css; charset=utf-8', style)

/** For the forms of `passkey-form.ts`. The only script there is. */
export const passkeyScript = asset('passkey.js', 'text/javascript; charset=utf-8', script)

const assets: readonly Asset[] = [stylesheet, passkeyScript]

/** The files that pages name. */
export function assetRoutes() {
  const routes = new Elysia({ name: 'web-assets', detail: { hide: true } })
  for (const { path, type, text } of assets) {
    const file = once(() =>
      storeBody(new TextEncoder().encode(text), { type, cacheControl: 'public, max-age=31536000, immutable' }),
    )
    routes.get(path, async ({ request }) => (await file())(request))
  }
  return routes
}
