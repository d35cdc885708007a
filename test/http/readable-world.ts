import { artifactClient, runtimeTokenOf } from '../harness/artifacts.ts'
import type { Answer } from '../harness/client.ts'
import { registerRunner } from '../harness/runner.ts'
import type { TestService } from '../harness/service.ts'
import { makeGpgKey, makeSshKey } from '../signatures/stage.ts'

type Values = Readonly<Record<string, string | number>>

/** Turns a path of the API description into one that leads to something. */
export type PathOf = (template: string) => string

const hook = {
  type: 'gitea',
  config: { url: 'https://hooks.example/', content_type: 'json' },
  events: ['push'],
  active: true,
}

/** One thing of each kind, the administrator's, so that every operation that reads has something to find. */
export async function makeReadableWorld(service: TestService): Promise<PathOf> {
  const { admin } = service
  const send = async (method: string, path: string, json?: object): Promise<Answer> => {
    const answer = await admin.client.request(path, { method, json })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  const idOf = async (path: string, json: object): Promise<number> => (await send('POST', path, json)).number('id')
  const runnerAt = async (place: string): Promise<number> => {
    const token = (await send('POST', `${place}/registration-token`)).string('token')
    const call = '/api/actions/runner.v1.RunnerService/Register'
    const made = await service.anonymous.post(call, { name: 'machine', token })
    return Number(made.string('runner.id'))
  }
  /** A hook and the first delivery to it. */
  const hookAt = async (place: string) => {
    const id = await idOf(place, hook)
    await send('POST', `${place}/${id}/tests`)
    const deliveries = await send('GET', `${place}/${id}/deliveries`)
    const [uuid = ''] = /[0-9a-f-]{36}/.exec(deliveries.text) ?? []
    return { id, uuid }
  }
  const friend = await service.createUser('friend')
  await service.createUser('pest')
  const world = await service.createRepository(admin, { name: 'world', license: 'MIT' })
  const { path } = world
  await pushHistory(service, world.cloneUrl)
  await send('POST', `${path}/wiki/new`, { title: 'Home', content_base64: 'aGk=' })
  await send('POST', '/orgs', { username: 'club' })
  const team = await idOf('/orgs/club/teams', { name: 'crew', permission: 'write', units: ['repo.code'] })
  await send('POST', '/orgs/club/repos', { name: 'shared', auto_init: true })
  const label = await idOf(`${path}/labels`, { name: 'bug', color: '#ff0000' })
  const milestone = await idOf(`${path}/milestones`, { title: 'one' })
  await send('POST', `${path}/issues`, { title: 'first', labels: [label], milestone, assignees: [admin.name] })
  const release = await idOf(`${path}/releases`, { tag_name: 'v1' })
  const attach = async (place: string) => {
    const made = await admin.client.request(`${place}/assets?name=a.txt`, { method: 'POST', body: 'a' })
    return { attachment_id: made.number('id') }
  }
  await send('POST', `${path}/branch_protections`, { rule_name: 'main', enable_push: true })
  const tagRule = await idOf(`${path}/tag_protections`, { name_pattern: 'x*', whitelist_usernames: [admin.name] })
  const puts = [
    ...[`/teams/${team}/repos/club/shared`, `/teams/${team}/members/friend`, '/orgs/club/public_members/friend'],
    ...[`${path}/topics/small`, `${path}/subscription`, `/user/starred${path.slice(6)}`],
    ...['/user/following/friend', '/user/blocks/pest', '/orgs/club/blocks/pest'],
  ]
  await send('PUT', `${path}/collaborators/friend`, { permission: 'write' })
  for (const put of puts.filter((place) => !place.includes('public_members'))) await send('PUT', put)
  await friend.client.put('/orgs/club/public_members/friend')
  await friend.client.put(`/user/following/${admin.name}`)
  await send('POST', `${path}/forks`, { organization: 'club' })
  await send('POST', '/admin/badges', { slug: 'old', description: 'old' })
  await send('POST', '/admin/users/friend/badges', { badge_slugs: ['old'] })
  await friend.client.post(`${path}/issues/1/comments`, { body: 'news' })
  await send('POST', `${path}/issues/1/times`, { time: 60 })
  await send('POST', `${path}/issues/1/pin`)
  const ci = { content: btoa('on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }'), message: 'ci' }
  await send('POST', `${path}/contents/.gitea/workflows/ci.yml`, ci)
  await service.drain()
  const runner = await registerRunner(service.url, { owner: admin, at: `${path}/actions/runners` })
  const task = await runner.take()
  const artifact = await artifactClient(service.url, runtimeTokenOf(task)).upload('left', 'behind')
  await runner.end(task)
  const done = await send('GET', `${path}/actions/jobs`)
  const [jobId, runId] = [done.number('jobs.0.id'), done.number('jobs.0.run_id')]
  await service.drain()
  const thread = (await admin.client.get('/notifications')).number('0.id')
  const { armored } = await makeGpgKey([service.context.config.adminEmail])
  // An address that answers nobody; no job runs from here on.
  const far = 'http://93.184.216.34/far.git'
  await send('POST', '/repos/migrate', { clone_addr: far, repo_name: 'mirrored', mirror: true })
  await send('POST', '/repos/migrate', {
    clone_addr: `${far.slice(0, -4)}/x.git`,
    repo_name: 'taken',
    service: 'gitea',
    labels: true,
  })
  const pushed = await send('POST', `${path}/push_mirrors`, { remote_address: far, interval: '8h' })
  const clone = (revision: string) => service.git(['rev-parse', revision], { cwd: `${service.git.folder}/world` })
  const names: Values = {
    ...{ run: runId, job_id: jobId, artifact_id: artifact, workflow_id: 'ci.yml' },
    ...{ owner: admin.name, repo: 'world', username: 'friend', collaborator: 'friend', org: 'club', index: 1 },
    ...{
      variablename: 'word',
      filepath: 'README.md',
      branch: 'main',
      tag: 'v1',
      sha: 'main',
      ref: 'heads',
      basehead: 'v1...main',
    },
  }
  for (const holder of [path, '/orgs/club', '/user'])
    await send('POST', `${holder}/actions/variables/WORD`, { value: 'said' })
  const runners: Record<string, Values> = {}
  for (const [template, holder] of [
    ['/repos/{owner}/{repo}', path],
    ['/orgs/{org}', '/orgs/club'],
    ['/user', '/user'],
    ['/admin', '/admin'],
  ] as const)
    runners[`${template}/actions/runners/{runner_id}`] = { runner_id: await runnerAt(`${holder}/actions/runners`) }
  const comment = await idOf(`${path}/issues/1/comments`, { body: 'text' })
  const own = '/repos/{owner}/{repo}'
  const others: Record<string, Values> = {
    '/users/{username}/tokens': { username: admin.name },
    '/users/{username}/orgs/{org}/permissions': { username: admin.name },
    '/gitignore/templates/{name}': { name: 'Go' },
    '/licenses/{name}': { name: 'MIT' },
    '/label/templates/{name}': { name: 'Default' },
    '/teams/{id}': { id: team },
    '/teams/{id}/repos/{org}/{repo}': { id: team, repo: 'shared' },
    '/repositories/{id}': { id: world.id },
    '/notifications/threads/{id}': { id: thread },
    [`${own}/teams`]: { owner: 'club', repo: 'shared', team: 'crew' },
    [`${own}/git/blobs/{sha}`]: { sha: await clone('v1:README.md') },
    [`${own}/git/tags/{sha}`]: { sha: await clone('v1') },
    [`${own}/git/notes/{sha}`]: { sha: await clone('v1^{commit}') },
    [`${own}/commits/{ref}`]: { ref: 'main' },
    [`${own}/labels/{id}`]: { id: label },
    [`${own}/milestones/{id}`]: { id: milestone },
    [`${own}/releases/{id}`]: { id: release, ...(await attach(`${path}/releases/${release}`)) },
    [`${own}/keys/{id}`]: { id: await idOf(`${path}/keys`, { title: 'deploy', key: makeSshKey().line }) },
    [`${own}/branch_protections`]: { name: 'main' },
    [`${own}/tag_protections/{id}`]: { id: tagRule },
    [`${own}/issues/{index}/assets`]: await attach(`${path}/issues/1`),
    [`${own}/issues/comments/{id}`]: { id: comment, ...(await attach(`${path}/issues/comments/${comment}`)) },
    [`${own}/times/{user}`]: { user: admin.name },
    [`${own}/mirror`]: { repo: 'mirrored' },
    [`${own}/wiki`]: { pageName: 'Home' },
    [`${own}/migration`]: { repo: 'taken' },
    [`${own}/push_mirrors/{name}`]: { name: pushed.string('remote_name') },
    [`${own}/hooks/{id}`]: await hookAt(`${path}/hooks`),
    [`${own}/hooks/git/{id}`]: { id: 'pre-receive' },
    '/orgs/{org}/hooks/{id}': await hookAt('/orgs/club/hooks'),
    '/orgs/{org}/labels/{id}': { id: await idOf('/orgs/club/labels', { name: 'bug', color: '#00ff00' }) },
    '/user/hooks/{id}': await hookAt('/user/hooks'),
    '/admin/hooks/{id}': await hookAt('/admin/hooks'),
    '/user/keys/{id}': { id: await idOf('/user/keys', { title: 'laptop', key: makeSshKey().line }) },
    '/user/applications/oauth2/{id}': {
      id: await idOf('/user/applications/oauth2', { name: 'app', redirect_uris: ['https://app.example/cb'] }),
    },
    ...runners,
    '/user/gpg_keys/{id}': { id: await idOf('/user/gpg_keys', { armored_public_key: armored }) },
  }
  return (template) => {
    const nearer = Object.keys(others).filter((start) => template === start || template.startsWith(`${start}/`))
    const values = { ...names, ...others[nearer.sort((a, b) => b.length - a.length)[0] ?? ''] }
    const query = template.endsWith('/file-contents') ? `?body=${encodeURIComponent('{"files":["README.md"]}')}` : ''
    return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) + query
  }
}

/** A second commit with settings of editors, an annotated tag on the first, and a note of that. */
async function pushHistory({ git }: TestService, cloneUrl: string): Promise<void> {
  await git(['clone', '-q', cloneUrl, 'world'])
  const run = (...args: string[]) => git(args, { cwd: `${git.folder}/world` })
  await run('tag', '-am', 'first', 'v1')
  await run('notes', 'add', '-m', 'remember', 'v1^{commit}')
  await Bun.write(`${git.folder}/world/.editorconfig`, '[*]\nindent_style = space\n')
  await run('add', '-A')
  await run('commit', '-qm', 'more')
  await run('push', '-q', 'origin', 'main', 'v1', 'refs/notes/commits')
}
