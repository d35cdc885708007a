import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { join } from 'node:path'
import { type Client, type Credential, createClient } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import type { Replica } from './transport/replica.ts'
import { findFaults, startTwin } from './transport/twins.ts'

/** More of them by hand: `REPLICA_ROUNDS=200 REPLICA_SEED=7 bun test ...`. */
const ROUNDS = Number(process.env.REPLICA_ROUNDS ?? 6)
const SEED = Number(process.env.REPLICA_SEED ?? 1)
const LONG_MS = 60_000 + ROUNDS * 10_000

const settings = { SECRET_KEY: 'the same key in all of the replicas', PUBLIC_URL: 'http://hearth.example' }
let service: TestService
/** Two servers as people run them; the service of the harness only looks on. */
let replicas: Replica[] = []
let owner: TestUser
let state = SEED
/** From 0 to 1, the same for the same seed (a linear congruential generator). */
const random = () => {
  state = (state * 1_103_515_245 + 12_345) % 2 ** 31
  return state / 2 ** 31
}
const pick = <Item>(items: readonly Item[]): Item => {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('nothing to choose from')
  return item
}

beforeAll(async () => {
  service = await startTestService({ settings })
  owner = await service.createUser()
  replicas = await Promise.all([start('one'), start('two')])
})
afterAll(async () => {
  for (const replica of replicas) await replica.kill()
  await service.stop()
})

const start = (name: string) => startTwin(service, name, settings)

const at = (replica: Replica, credential: Credential = { token: owner.token }): Client =>
  createClient({ url: replica.url, credential })
const any = (credential?: Credential): Client => at(pick(replicas), credential)
const both = () => [...replicas].sort(() => random() - 0.5)

const cloneUrl = (replica: Replica, { owner: name, name: repo }: { owner: string; name: string }, user = owner) => {
  const url = new URL(`/${name}/${repo}.git`, replica.url)
  url.username = user.name
  url.password = user.token
  return url.href
}

const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort()
const times = <Result>(count: number, work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

async function workTree(repo: TestRepository): Promise<string> {
  const cwd = join(service.git.folder, crypto.randomUUID())
  await service.git(['clone', '-q', cloneUrl(pick(replicas), repo), cwd])
  return cwd
}

async function commit(cwd: string): Promise<string> {
  await Bun.write(join(cwd, `${crypto.randomUUID()}.txt`), 'x')
  await service.git(['add', '-A'], { cwd })
  await service.git(['commit', '-qm', 'change'], { cwd })
  return service.git(['rev-parse', 'HEAD'], { cwd })
}

describe(`two replicas are one service (${ROUNDS} rounds, seed ${SEED})`, () => {
  test(
    'of those who create the same name one wins, and all see it',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const name = `contested-${round}`
        const answers = await times(4, () => any().post('/user/repos', { name, auto_init: true }))
        expect(statuses(answers)).toEqual([201, 409, 409, 409])
        for (const replica of replicas)
          expect((await at(replica).get(`/repos/${owner.name}/${name}/branches/main`)).status).toBe(200)
      }
      const people = await times(4, () =>
        any({ token: service.admin.token }).post('/admin/users', {
          username: 'contested',
          email: 'contested@example.com',
          password: 'a long enough phrase',
        }),
      )
      expect(statuses(people)).toEqual([201, 422, 422, 422])
    },
    LONG_MS,
  )

  test(
    'of those who push to the same branch one wins, and its commit is seen at once',
    async () => {
      const repo = await service.createRepository(owner)
      const trees = await times(3, () => workTree(repo))
      for (let round = 0; round < ROUNDS; round++) {
        const pushes = await Promise.all(
          trees.map(async (cwd) => {
            const sha = await commit(cwd)
            const run = await service.git.run(['push', '-q', cloneUrl(pick(replicas), repo), 'HEAD:main'], { cwd })
            return { sha, ...run }
          }),
        )
        const [won, ...more] = pushes.filter(({ exitCode }) => exitCode === 0)
        expect([more.length, pushes.map(({ stderr }) => stderr).filter((text) => /fatal|HTTP 5/.test(text))]).toEqual([
          0,
          [],
        ])
        for (const replica of both()) {
          expect((await at(replica).get(`${repo.path}/branches/main`)).string('commit.id')).toBe(won?.sha ?? '')
          const listed = await service.git(['ls-remote', cloneUrl(replica, repo), 'refs/heads/main'])
          expect(listed.slice(0, 40)).toBe(won?.sha ?? '')
        }
        for (const cwd of trees) {
          await service.git(['fetch', '-q', cloneUrl(pick(replicas), repo), 'main'], { cwd })
          await service.git(['reset', '-q', '--hard', 'FETCH_HEAD'], { cwd })
        }
      }
    },
    LONG_MS,
  )

  test(
    'issues get every number once, and each is read elsewhere at once',
    async () => {
      const repo = await service.createRepository(owner)
      const numbers = await times(10 * ROUNDS, async (index) => {
        const number = (await any().post(`${repo.path}/issues`, { title: `issue ${index}` })).number('number')
        const read = await any().get(`${repo.path}/issues/${number}`)
        expect(read.body).toMatchObject({ title: `issue ${index}` })
        expect((await any().patch(`${repo.path}/issues/${number}`, { state: 'closed' })).status).toBe(201)
        expect((await any().get(`${repo.path}/issues/${number}`)).string('state')).toBe('closed')
        return number
      })
      expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 10 * ROUNDS }, (_, index) => index + 1))
      for (const replica of replicas)
        expect((await at(replica).get(repo.path)).body).toMatchObject({ open_issues_count: 0 })
    },
    LONG_MS,
  )

  test(
    'a push lands or is refused while its repository is renamed',
    async () => {
      const repo = await service.createRepository(owner)
      const cwd = await workTree(repo)
      const names = [repo.name, `${repo.name}-renamed`]
      let landed = 0
      let isOver = false
      const renames = (async () => {
        for (let round = 0; round < 2 * ROUNDS || landed < ROUNDS; round++) {
          const [from = '', to = ''] = round % 2 === 0 ? names : [...names].reverse()
          expect((await any().patch(`/repos/${owner.name}/${from}`, { name: to })).status).toBe(200)
          for (const replica of both()) {
            const found = await at(replica).get(`/repos/${owner.name}/${to}`)
            expect([found.status, found.string('name')]).toEqual([200, to])
          }
        }
        isOver = true
      })()
      const said: string[] = []
      let last = ''
      while (!isOver) {
        const sha = await commit(cwd)
        const url = cloneUrl(pick(replicas), { owner: owner.name, name: pick(names) })
        const { exitCode, stderr } = await service.git.run(['push', '-q', url, 'HEAD:main'], { cwd })
        if (exitCode !== 0) {
          said.push(stderr)
          continue
        }
        landed += 1
        last = sha
      }
      await renames
      expect(said.filter((text) => /HTTP 5|\berror: 5/.test(text))).toEqual([])
      expect(await service.context.git.isAncestor(repo.id, last, 'refs/heads/main')).toBe(true)
    },
    LONG_MS,
  )

  test(
    'a clone is whole or refused while its repository is deleted',
    async () => {
      const ends: (string | undefined)[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const repo = await service.createRepository(owner)
        const clones = times(3, async () => {
          const cwd = join(service.git.folder, crypto.randomUUID())
          const run = await service.git.run(['clone', '-q', cloneUrl(pick(replicas), repo), cwd])
          if (run.exitCode === 0) await service.git(['fsck', '--connectivity-only'], { cwd })
          return run.exitCode === 0 ? undefined : run.stderr
        })
        // The deletion comes at any moment of the clones.
        await Bun.sleep(random() * 60)
        const deletions = await times(2, () => any().delete(repo.path))
        expect(statuses(deletions)).toEqual([204, 404])
        for (const replica of both()) {
          expect((await at(replica).get(repo.path)).status).toBe(404)
          const refs = await fetch(
            `${cloneUrl(replica, repo).replace(/\/\/[^@]+@/, '//')}/info/refs?service=git-upload-pack`,
            {
              headers: { authorization: `token ${owner.token}` },
            },
          )
          expect(refs.status).toBe(404)
        }
        ends.push(...(await clones))
      }
      expect(ends.filter((text) => text !== undefined && /HTTP 5|\berror: 5/.test(text))).toEqual([])
    },
    LONG_MS,
  )

  test(
    'credentials and visibility count everywhere from the moment of the answer',
    async () => {
      const user = await service.createUser()
      const repo = await service.createRepository(user)
      const secret = 'another long phrase'
      for (let round = 0; round < 2 * ROUNDS; round++) {
        const [password, next] = round % 2 === 0 ? [user.password, secret] : [secret, user.password]
        const made = await any({ basic: `${user.name}:${password}` }).post(`/users/${user.name}/tokens`, {
          name: `token-${round}`,
          scopes: ['all'],
        })
        const token = made.string('sha1')
        const asked = async () =>
          Promise.all(both().map(async (replica) => (await at(replica, { token }).get('/user')).status))
        expect([await asked(), await asked()]).toEqual([
          [200, 200],
          [200, 200],
        ])

        const seen = () =>
          Promise.all(
            both().flatMap((replica) => [
              at(replica, undefined).request(repo.path, { headers: { authorization: '' } }),
              fetch(`${replica.url}/${user.name}/${repo.name}.git/info/refs?service=git-upload-pack`),
              fetch(`${replica.url}/${user.name}/${repo.name}.git/info/refs?service=git-upload-pack`, {
                headers: { 'git-protocol': 'version=2' },
              }),
            ]),
          ).then(statuses)
        const isPrivate = round % 2 === 0
        expect((await any({ token }).patch(repo.path, { private: isPrivate })).status).toBe(200)
        expect(await seen()).toEqual(isPrivate ? [401, 401, 401, 401, 404, 404] : Array(6).fill(200))

        const basic = any({ basic: `${user.name}:${password}` })
        expect((await basic.delete(`/users/${user.name}/tokens/token-${round}`)).status).toBe(204)
        // The one that answered has settled it; the other hears of the commit within moments.
        await until(async () => (await asked()).every((status) => status === 401), 'the token is refused', 1000)

        const changed = await any({ token: service.admin.token }).patch(`/admin/users/${user.name}`, {
          source_id: 0,
          login_name: user.name,
          password: next,
          must_change_password: false,
        })
        expect(changed.status).toBe(200)
        const signIns = (word: string) =>
          Promise.all(
            both().map(async (replica) => (await at(replica, { basic: `${user.name}:${word}` }).get('/user')).status),
          )
        expect([await signIns(next), await signIns(password)]).toEqual([
          [200, 200],
          [401, 401],
        ])
        await service.context.sql`delete from login_failures`
      }
    },
    LONG_MS,
  )

  test(
    'a token that was deleted while a replica slept is refused when it wakes',
    async () => {
      const user = await service.createUser()
      const [awake, asleep] = both()
      if (!awake || !asleep) throw new Error('there are two')
      for (let round = 0; round < Math.min(ROUNDS, 3); round++) {
        const basic = at(awake, { basic: `${user.name}:${user.password}` })
        const name = `slept-${round}`
        const token = (await basic.post(`/users/${user.name}/tokens`, { name, scopes: ['all'] })).string('sha1')
        for (let use = 0; use < 3; use++) expect((await at(asleep, { token }).get('/user')).status).toBe(200)
        process.kill(asleep.pid, 'SIGSTOP')
        expect((await basic.delete(`/users/${user.name}/tokens/${name}`)).status).toBe(204)
        const late = times(4, () => at(asleep, { token }).get('/user'))
        await Bun.sleep(800 + random() * 400)
        process.kill(asleep.pid, 'SIGCONT')
        expect(statuses(await late)).toEqual([401, 401, 401, 401])
      }
    },
    LONG_MS,
  )

  test(
    'after all of that the data is as it should be',
    async () => {
      await until(isQuiet, 'all jobs are done', 45_000)
      expect(await findFaults(service)).toEqual([])
    },
    LONG_MS,
  )
})

/** No event waits for its reactions, and no job for its end. */
async function isQuiet(): Promise<boolean> {
  const [row] = await service.context.sql`
    select (select count(*)::int from events where fanned_out_at is null) as events,
      (select count(*)::int from jobs where retired_at is null and run_at <= now()) as jobs`
  return row?.events === 0 && row.jobs === 0
}
