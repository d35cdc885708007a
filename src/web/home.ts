import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { escapeHtml } from '../kernel/html.ts'
import { version } from '../version.ts'
import { htmlPage } from './page.ts'

/** The first page: what this is, and how to begin. */
export const homePage = ({ baseUrl, config }: Context) =>
  new Elysia({ name: 'home', detail: { hide: true } }).get('/', () => {
    const main = describeHome({ baseUrl, hasReference: config.enableSwagger })
    return htmlPage({ title: 'Hearth', main, cacheControl: 'max-age=60' })
  })

function describeHome({ baseUrl, hasReference }: { baseUrl: string; hasReference: boolean }): string {
  const address = escapeHtml(baseUrl)
  const reference = hasReference ? `<li><a href="${address}/api/swagger">API reference</a></li>` : ''
  return `<h1>Hearth</h1>
<p>A home for Git repositories, version ${escapeHtml(version)}.</p>
<h2>Clone a repository</h2>
<pre><code>git clone ${address}/OWNER/NAME.git</code></pre>
<h2>Find your way</h2>
<ul>
${reference}<li><a href="${address}/api/v1/repos/search">Public repositories</a> as JSON</li>
<li><a href="${address}/api/healthz">State of the service</a></li>
</ul>`
}
