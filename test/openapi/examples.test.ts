import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isObject, type JsonObject, objectOf, parseJson } from '../../src/http/openapi/json.ts'
import type { Answer } from '../harness/client.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { makeReadableWorld, type PathOf } from '../http/readable-world.ts'
import { makeSshKey } from '../signatures/stage.ts'

interface Sent {
  /** `POST /user/repos`. */
  route: string
  method: string
  template: string
  model: string
  example: JsonObject | undefined
}

let service: TestService
let pathOf: PathOf
let bodies: Sent[]
let head: string

beforeAll(async () => {
  service = await startTestService({ settings: { ENABLE_GIT_HOOKS: 'true' } })
  const document = objectOf(parseJson((await service.anonymous.get('/swagger.v1.json')).text))
  bodies = bodiesOf(document)
  pathOf = await makeReadableWorld(service)
  head = await prepare()
})
afterAll(() => service.stop())

/** Every operation that takes JSON, in the order of the description. */
function bodiesOf(document: JsonObject): Sent[] {
  const models = objectOf(objectOf(document.components).schemas)
  return Object.entries(objectOf(document.paths)).flatMap(([template, item]) =>
    Object.entries(objectOf(item)).flatMap(([method, operation]) => {
      const content = objectOf(objectOf(objectOf(operation).requestBody).content)
      const { $ref: reference } = objectOf(objectOf(content['application/json']).schema)
      if (typeof reference !== 'string') return []
      const model = reference.slice(reference.lastIndexOf('/') + 1)
      const { example } = objectOf(models[model])
      const route = `${method.toUpperCase()} ${template}`
      return [
        { route, method: method.toUpperCase(), template, model, example: isObject(example) ? example : undefined },
      ]
    }),
  )
}

/** What the examples take for granted beyond the world. @returns the commit of the default branch */
async function prepare(): Promise<string> {
  const { admin } = service
  const world = `/repos/${admin.name}/world`
  await service.createUser('ann')
  await admin.client.patch(world, { template: true })
  await admin.client.post(`${world}/issues`, { title: 'second' })
  await admin.client.post('/admin/badges', { slug: 'helper', description: 'helps' })
  const workflow = 'on: workflow_dispatch\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }'
  await admin.client.post(`${world}/contents/.gitea/workflows/by-hand.yml`, { content: btoa(workflow), message: 'x' })
  return (await admin.client.get(`${world}/branches/main`)).string('commit.id')
}

/** Bodies for which there is no example that works as it stands, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  CreateGPGKeyOption: 'a key has a hundred lines',
  VerifyGPGKeyOption: 'a signature of what the service asks for at that minute',
  ConfirmTwoFactorOption: 'a number that is right for half a minute',
}

/** Operations that need something that only a test of their own makes. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  // A migration that has failed.
  'POST /repos/{owner}/{repo}/migration',
  // An address that was confirmed by mail.
  'POST /user/emails/primary',
])

const own = '/repos/{owner}/{repo}'

/** What names other things in the world than in the example. */
const replaced = (route: string): JsonObject | undefined => {
  const key = () => ({ key: makeSshKey().line })
  const issue = { owner: service.admin.name, repo: 'world', index: 2 }
  const others: Record<string, JsonObject> = {
    'POST /admin/users/{username}/keys': key(),
    [`POST ${own}/keys`]: key(),
    'POST /org/{org}/repos': { name: 'more-tools' },
    'POST /admin/users/{username}/orgs': { username: 'crafts' },
    'POST /repos/migrate': { clone_addr: 'http://93.184.216.34/tools.git', repo_name: 'copied' },
    [`POST ${own}/push_mirrors`]: { remote_address: 'http://93.184.216.34/copy.git' },
    [`PUT ${own}/branches/{branch}`]: { new_commit_id: head },
    [`PATCH ${own}/wiki/page/{pageName}`]: { title: 'Home' },
    'POST /admin/badges': { slug: 'friendly' },
    'PATCH /admin/users/{username}': { login_name: 'friend' },
  }
  return route.includes('/dependencies') || route.includes('/blocks') ? issue : others[route]
}

/** Parameters that lead to something else than in the world of readers. */
const placed: Readonly<Record<string, string>> = {
  [`POST ${own}/contents/{filepath}`]: `/repos/root-admin/world/contents/hello.txt`,
  [`PUT ${own}/contents/{filepath}`]: `/repos/root-admin/world/contents/hello.txt`,
  [`DELETE ${own}/contents/{filepath}`]: `/repos/root-admin/world/contents/hello.txt`,
  [`POST ${own}/actions/workflows/{workflow_id}/dispatches`]:
    '/repos/root-admin/world/actions/workflows/by-hand.yml/dispatches',
  [`POST ${own}/merge-upstream`]: '/repos/club/world/merge-upstream',
}

const filled = ({ route, method, template }: Sent): string => {
  const known = template.replace('{variablename}', method === 'POST' ? 'another' : 'word')
  return (placed[route] ?? pathOf(known))
    .replace('/comments/{id}', `/comments/${pathOf(`${own}/issues/comments/{id}`).split('/').at(-1)}`)
    .replace('{secretname}', 'TOKEN')
    .replace('{slug}', 'old')
    .replace('{template_owner}', service.admin.name)
    .replace('{template_repo}', 'world')
}

/** What is not found any more afterwards comes last. */
const isFinal = ({ route }: Sent): boolean =>
  /\/rename$|\/transfer$|PATCH .*\/branches\/\{branch\}$|PUT \/user\/password$/.test(route)

async function send(sent: Sent): Promise<Answer> {
  const { admin } = service
  const byPassword = /password$|\/tokens$/.test(sent.template)
  const forks = sent.route === `POST ${own}/forks`
  const friend = { basic: 'friend:correct horse battery' }
  const client = byPassword ? service.client({ basic: `${admin.name}:${admin.password}` }) : admin.client
  const path = sent.template === '/users/{username}/tokens' ? `/users/${admin.name}/tokens` : filled(sent)
  const json = { ...sent.example, ...replaced(sent.route) }
  return (forks ? service.client(friend) : client).request(path, { method: sent.method, json })
}

test('every body has an example, or a reason why not', () => {
  const bare = bodies.filter(({ example, model }) => example === undefined && WITHOUT[model] === undefined)
  expect(bare.map(({ model }) => model)).toEqual([])
})

test('every example works when it is sent', async () => {
  const asked = bodies.filter(({ example, route }) => example !== undefined && !ELSEWHERE.has(route))
  const wrong: string[] = []
  for (const sent of [...asked.filter((one) => !isFinal(one)), ...asked.filter(isFinal)]) {
    const { status, text } = await send(sent)
    if (status >= 300) wrong.push(`${sent.route} (${filled(sent)}): ${status} ${text.slice(0, 200)}`)
  }
  expect(wrong).toEqual([])
  expect(asked.length).toBeGreaterThan(100)
})
