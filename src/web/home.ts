import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { version } from '../version.ts'
import { escapeHtml } from './html.ts'

const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

/** The first page: what this is, and how to begin. Plain HTML, no script, nothing from elsewhere. */
export const homePage = ({ baseUrl, config }: Context) =>
  new Elysia({ name: 'home', detail: { hide: true } }).get('/', () => {
    const page = describeHome({ baseUrl, hasReference: config.enableSwagger })
    return new Response(page, {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': contentSecurityPolicy,
        'cache-control': 'max-age=60',
      },
    })
  })

function describeHome({ baseUrl, hasReference }: { baseUrl: string; hasReference: boolean }): string {
  const address = escapeHtml(baseUrl)
  const reference = hasReference ? `<li><a href="${address}/api/swagger">API reference</a></li>` : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hearth</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>Hearth</h1>
<p>A home for Git repositories, version ${escapeHtml(version)}.</p>
<h2>Clone a repository</h2>
<pre><code>git clone ${address}/OWNER/NAME.git</code></pre>
<h2>Find your way</h2>
<ul>
${reference}<li><a href="${address}/api/v1/repos/search">Public repositories</a> as JSON</li>
<li><a href="${address}/api/healthz">State of the service</a></li>
</ul>
</main>
</body>
</html>
`
}
