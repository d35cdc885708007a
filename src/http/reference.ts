import { Elysia } from 'elysia'
import { version as uiVersion } from 'swagger-ui-dist/package.json'
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import { once } from '../kernel/once.ts'
import type { JsonObject } from './openapi/json.ts'
import startScript from './reference/start.js' with { type: 'text' }
import { type StoredOptions, storeBody } from './stored.ts'

/** Part of the address of every asset: the files under one address never change, so browsers may keep them for ever. */
const assetVersion = `${uiVersion}-${Bun.hash(startScript).toString(36)}`

const assets: Readonly<Record<string, { type: string; bytes: () => Promise<Uint8Array<ArrayBuffer>> }>> = {
  'swagger-ui.css': { type: 'text/css; charset=utf-8', bytes: () => Bun.file(stylePath).bytes() },
  'swagger-ui.js': { type: 'text/javascript; charset=utf-8', bytes: () => Bun.file(scriptPath).bytes() },
  'start.js': { type: 'text/javascript; charset=utf-8', bytes: async () => encode(startScript) },
}

/**
 * Swagger UI draws its icons from `data:` addresses and sets styles from its script; everything else comes from here.
 * Forms are sent by script, never by the browser itself.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference - Hearth</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="../assets/swagger/${assetVersion}/swagger-ui.css">
<script defer src="../assets/swagger/${assetVersion}/swagger-ui.js"></script>
<script defer src="../assets/swagger/${assetVersion}/start.js"></script>
</head>
<body>
<main id="reference" aria-label="API reference"></main>
<noscript>This page needs JavaScript. The description itself is at <a href="../swagger.v1.json">swagger.v1.json</a>.</noscript>
</body>
</html>
`

/**
 * The description at `/swagger.v1.json` and the interactive page at `/api/swagger`, both made once and held compressed.
 * `describe` is called at the first request, when all routes are known.
 */
export function referenceRoutes(describe: () => Promise<JsonObject>) {
  const document = once(async () =>
    storeBody(encode(JSON.stringify(await describe())), {
      type: 'application/json;charset=utf-8',
      cacheControl: 'max-age=0, must-revalidate',
    }),
  )
  const shown = once(() => storeBody(encode(page), pageOptions))
  const routes = new Elysia({ name: 'reference', detail: { hide: true } })
    .get('/swagger.v1.json', async ({ request }) => (await document())(request))
    .get('/api/swagger', async ({ request }) => (await shown())(request))
  for (const [name, asset] of Object.entries(assets)) {
    const file = once(async () => storeBody(await asset.bytes(), { type: asset.type, cacheControl: forEver }))
    routes.get(`/assets/swagger/${assetVersion}/${name}`, async ({ request }) => (await file())(request))
  }
  return routes
}

const forEver = 'public, max-age=31536000, immutable'

const pageOptions: StoredOptions = {
  type: 'text/html; charset=utf-8',
  cacheControl: 'max-age=0, must-revalidate',
  headers: { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'no-referrer' },
}

const encode = (text: string) => new TextEncoder().encode(text)
