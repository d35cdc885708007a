import type { Context } from '../context.ts'
import { escapeHtml } from '../kernel/html.ts'
import { ownerNameProblem, repositoryNameProblem } from '../kernel/names.ts'

/**
 * The answer to `?go-get=1` below `/OWNER/REPO`, by which the `go` command finds where to clone a module. Undefined for any other request.
 * Wire: every name has an answer, as in Gitea. `go` asks without credentials, for private modules too, and nobody learns what exists.
 */
export function goGet({ baseUrl }: Pick<Context, 'baseUrl'>, { method, url }: Request): Response | undefined {
  if (method !== 'GET' || !url.includes('go-get=1')) return undefined
  const { pathname, searchParams } = new URL(url)
  const [owner = '', repo = ''] = pathname.split('/').slice(1)
  const name = repo.replace(/\.git$/, '')
  const isModule = ownerNameProblem(owner) === undefined && repositoryNameProblem(name) === undefined
  return isModule && searchParams.get('go-get') === '1' ? describeModule(baseUrl, `${owner}/${name}`) : undefined
}

/** The default branch of new repositories. The real one would reveal whether the repository exists. */
const BRANCH = 'main'

function describeModule(baseUrl: string, path: string): Response {
  const home = `${baseUrl}/${path}`
  const module = home.replace(/^https?:\/\//, '')
  const source = `${home}/src/branch/${BRANCH}{/dir}`
  const insecure = baseUrl.startsWith('http:') ? '--insecure ' : ''
  const page = `<!doctype html>
<html>
	<head>
		<meta name="go-import" content="${escapeHtml(`${module} git ${home}.git`)}">
		<meta name="go-source" content="${escapeHtml(`${module} _ ${source} ${source}/{file}#L{line}`)}">
	</head>
	<body>
		go get ${insecure}${escapeHtml(module)}
	</body>
</html>
`
  return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } })
}
