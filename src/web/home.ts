import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { version } from '../version.ts'
import { type Html, html } from './html.ts'
import { htmlPage } from './layout.ts'
import { pageGate } from './page-gate.ts'

/** The first page: what this is, and how to begin. */
export const homePage = (context: Context) =>
  new Elysia({ name: 'home', detail: { hide: true } })
    .use(pageGate(context))
    .get('/', ({ actor }) => htmlPage(context, actor, { title: 'Home', main: describeHome(context) }), {
      publicPage: { beforeSignIn: true },
    })

function describeHome({ baseUrl, config }: Context): Html {
  const reference = html`<li><a href="${baseUrl}/api/swagger">API reference</a></li>`
  return html`<h1>Hearth</h1>
<p>A home for Git repositories, version ${version}.</p>
<h2>Clone a repository</h2>
<pre tabindex="0"><code>git clone ${baseUrl}/OWNER/NAME.git</code></pre>
<h2>Find your way</h2>
<ul>
${config.enableSwagger && reference}<li><a href="${baseUrl}/api/v1/repos/search">Public repositories</a> as JSON</li>
<li><a href="${baseUrl}/api/healthz">State of the service</a></li>
</ul>`
}
