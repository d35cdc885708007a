// Things for the fuzzer to find: without them nearly every made-up path ends in 404 before a handler is reached.

/** Values that parameters take most of the time, by `path.name` or `query.name`. */
export type World = Readonly<Record<string, readonly (string | number)[]>>

interface Caller {
  url: string
  token: string
}

/** The repository that operations meet, one that they may rename or archive, and one that they may delete. */
const REPOSITORIES = { met: 'fuzz', edited: 'fuzz-edited', deleted: 'fuzz-deleted' }

/** Whom administrators may edit, rename and delete: were it the caller, most of the rest would be refused. */
const VICTIM = 'fuzz-victim'

/** Operations that would end the world for all others, with the value that they get instead. */
const DESTRUCTIVE: readonly { operations: readonly string[]; parameter: string; value: string }[] = [
  { operations: ['repoDelete'], parameter: 'path.repo', value: REPOSITORIES.deleted },
  { operations: ['repoEdit', 'repoTransfer'], parameter: 'path.repo', value: REPOSITORIES.edited },
  { operations: ['adminEditUser', 'adminRenameUser', 'adminDeleteUser'], parameter: 'path.username', value: VICTIM },
]

/** That wrong input is refused and right input accepted depends on more than the description. */
const UNASKED = [
  ...['response_headers_conformance', 'negative_data_rejection', 'positive_data_acceptance', 'missing_required_header'],
  ...['unsupported_method', 'allow_header_conformance', 'use_after_free', 'ensure_resource_availability'],
  ...['ignored_auth', 'object_level_authorization'],
]

/** No text renders to no body, and then there is no media type either. */
const RENDERERS = ['renderMarkdown', 'renderMarkup', 'renderMarkdownRaw'].flatMap((name) => [
  name,
  name.replace('render', 'repoRender'),
])

/** Makes the repositories and what is in them, as far as the service can do so yet. */
export async function makeWorld(caller: Caller): Promise<World> {
  const answer = await fetch(`${caller.url}/api/v1/user`, { headers: { authorization: `token ${caller.token}` } })
  const user: unknown = await answer.json()
  const owner: unknown = typeof user === 'object' && user !== null ? Reflect.get(user, 'login') : undefined
  if (typeof owner !== 'string') throw new Error(`the token signs nobody in: ${answer.status}`)
  for (const name of Object.values(REPOSITORIES)) await post(caller, '/user/repos', { name, auto_init: true })
  const person = { username: VICTIM, email: `${VICTIM}@localhost.localdomain`, password: 'correct horse battery' }
  await post(caller, '/admin/users', person)
  const repo = `/repos/${owner}/${REPOSITORIES.met}`
  await post(caller, `${repo}/contents/docs/a.txt`, { content: btoa('text'), message: 'a file' })
  await post(caller, `${repo}/labels`, { name: 'bug', color: '#ff0000' })
  await post(caller, `${repo}/milestones`, { title: 'one' })
  for (const title of ['first', 'second', 'third']) await post(caller, `${repo}/issues`, { title, body: 'text' })
  for (const index of [1, 2]) await post(caller, `${repo}/issues/${index}/comments`, { body: 'a comment' })
  return {
    'path.owner': [owner],
    'path.username': [owner],
    'path.repo': [REPOSITORIES.met],
    'path.index': [1, 2, 3],
    'path.id': [1, 2, 3],
    'path.filepath': ['README.md', 'docs/a.txt', 'docs'],
    'path.branch': ['main'],
    'path.sha': ['main', 'HEAD'],
    'path.ref': ['main', 'heads/main'],
    'path.archive': ['main.zip', 'main.tar.gz'],
    'query.ref': ['main', 'HEAD'],
    'query.sha': ['main', 'HEAD'],
  }
}

/** A refusal is no fault here: the thing may be there from an earlier run. */
async function post({ url, token }: Caller, path: string, body: unknown): Promise<void> {
  await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/**
 * The fuzzer's settings. Made-up tokens in the query would win over the real one in the header and end nearly every
 * request with 401, so it makes none up.
 */
export function settings(world: World): string {
  const names = Object.keys(world)
  const nameOf = (parameter: string) => parameter.replace('.', '-')
  const lists = Object.entries(world).map(
    ([name, values]) => `[dictionaries.${nameOf(name)}]\nvalues = ${quote(values)}`,
  )
  const bound = names.map((name) => `"${name}" = { dictionary = "${nameOf(name)}", probability = 0.8 }`)
  const destructive = DESTRUCTIVE.map(
    ({ operations, parameter, value }) =>
      `[[operations]]\ninclude-operation-id = ${quote(operations)}\nparameters = { "${parameter}" = "${value}" }`,
  )
  const rendering = `[[operations]]\ninclude-operation-id = ${quote(RENDERERS)}\nchecks.content_type_conformance.enabled = false`
  return [
    '[generation]\nwith-security-parameters = false',
    `[checks]\n${UNASKED.map((check) => `${check}.enabled = false`).join('\n')}`,
    ...lists,
    `[parameters]\n${bound.join('\n')}`,
    ...destructive,
    rendering,
  ].join('\n\n')
}

const quote = (values: readonly (string | number)[]): string => JSON.stringify(values)
