import { afterAll, beforeAll, expect, test } from 'bun:test'
import { actionsArtifacts } from '../../../db/schema/actions-artifacts.ts'
import { artifactTasks } from '../../../src/features/actions-artifacts/collect.ts'
import { findWrongCounters } from '../../../src/features/admin/statistics.ts'
import { attachmentTasks } from '../../../src/features/attachments/collect.ts'
import { artifactClient, blockList, digest, runtimeTokenOf } from '../../harness/artifacts.ts'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'

const MOST = 2_000
const OF_OWNER = 5_000
/** As it is for the service; moved by tests. */
let ahead = 0

let service: TestService
let owner: TestUser
beforeAll(async () => {
  const settings = {
    ACTIONS_ARTIFACT_MAX_BYTES: String(MOST),
    ACTIONS_ARTIFACT_MAX_OWNER_BYTES: String(OF_OWNER),
    MAX_OWNED: '20',
  }
  service = await startTestService({ settings, clock: { now: () => new Date(Date.now() + ahead) } })
})
afterAll(() => service.stop())

const TWO_JOBS =
  'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] }, b: { runs-on: linux, steps: [{ run: x }] } }'

/** A run whose two jobs have been taken, of an owner of its own. */
async function started() {
  owner = await service.createUser()
  const repo = await service.createRepository(owner)
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const path = `${repo.path}/contents/.gitea/workflows/ci.yml`
  expect((await owner.client.post(path, { content: btoa(TWO_JOBS), message: 'ci' })).status).toBe(201)
  await service.drain()
  const take = async () => {
    const task = await runner.take()
    return { task, client: artifactClient(service.url, runtimeTokenOf(task)) }
  }
  return { repo, runner, take, a: await take(), b: await take() }
}

const stored = () => Array.fromAsync(service.context.objects.list('artifacts')).then((all) => all.length)

/** What the clock does, some hours from now. */
async function cleaned(hours = 0) {
  ahead += hours * 3_600_000
  for (const task of [...artifactTasks, ...attachmentTasks])
    await task.run(service.context, new AbortController().signal)
  ahead -= hours * 3_600_000
}

test('what a job uploads in blocks another job of the run lists and downloads', async () => {
  const { a, b, runner } = await started()
  const before = await stored()
  const id = await a.client.upload('result', 'one file, zipped')
  await runner.end(a.task)
  const { body } = await b.client.call('ListArtifacts')
  expect(body.artifacts).toEqual([
    {
      ...a.client.ids,
      database_id: String(id),
      name: 'result',
      size: '16',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      digest: `sha256:${digest('one file, zipped')}`,
    },
  ])
  expect(await b.client.names({ name_filter: 'result' })).toEqual(['result'])
  expect(await b.client.names({ name_filter: 'other' })).toEqual([])
  expect(await b.client.names({ id_filter: String(id) })).toEqual(['result'])
  expect(await b.client.names({ id_filter: String(id + 1) })).toEqual([])
  const answer = await fetch(await b.client.address('result'))
  expect(answer.headers.get('content-type')).toBe('application/zip')
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename=result.zip')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await answer.text()).toBe('one file, zipped')
  const part = await fetch(await b.client.address('result'), { headers: { range: 'bytes=4-7' } })
  expect([part.status, await part.text()]).toEqual([206, 'file'])
  await cleaned()
  expect(await stored()).toBe(before + 1)
})

test('one file that is no archive comes back under its name, as bytes', async () => {
  const { a, b } = await started()
  await a.client.upload('page.html', '<script>', { version: 7, mime_type: 'text/html' })
  await a.client.upload('files.zip', 'zipped', { version: 7, mime_type: 'application/zip' })
  const heads = async (name: string) => {
    const { headers } = await fetch(await b.client.address(name))
    return [headers.get('content-type'), headers.get('content-disposition')]
  }
  expect(await heads('page.html')).toEqual(['application/octet-stream', 'attachment; filename=page.html'])
  expect(await heads('files.zip')).toEqual(['application/zip', 'attachment; filename=files.zip'])
})

test('the token ends with its job, and speaks for its own run only', async () => {
  const { a, b, runner } = await started()
  const other = await started()
  const id = await a.client.upload('own', 'x')
  const foreign = other.a.client.ids
  for (const method of [
    'CreateArtifact',
    'FinalizeArtifact',
    'ListArtifacts',
    'GetSignedArtifactURL',
    'DeleteArtifact',
  ]) {
    const message = { name: 'own', ...foreign }
    expect([method, (await a.client.call(method, message)).status]).toEqual([method, 404])
  }
  expect(await other.a.client.names()).toEqual([])
  expect((await other.a.client.call('GetSignedArtifactURL', { name: 'own' })).status).toBe(404)
  const address = await a.client.create('late')
  expect(await a.client.stage(address, 'a', 'x')).toBe(201)
  await runner.end(a.task)
  for (const method of [
    'CreateArtifact',
    'FinalizeArtifact',
    'ListArtifacts',
    'GetSignedArtifactURL',
    'DeleteArtifact',
  ])
    expect([method, (await a.client.call(method, { name: 'own' })).status]).toEqual([method, 401])
  expect(await a.client.stage(address, 'b', 'x')).toBe(404)
  expect(await a.client.commit(address, ['a'])).toBe(404)
  expect((await b.client.call('FinalizeArtifact', { name: 'late' })).status).toBe(404)
  expect(await b.client.names()).toEqual(['own'])
  // What was left is no obstacle to another job.
  expect(await b.client.upload('late', 'again')).toBeGreaterThan(id)
})

test('whatever is no token of a job is refused', async () => {
  const { a } = await started()
  const token = runtimeTokenOf(a.task)
  const [head = '', claims = '', sig = ''] = token.split('.')
  const forged = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), attempt: 2 }))
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  const wrong = [
    '',
    'Bearer',
    'Bearer x',
    `Bearer ${String(a.task.body.secrets.GITEA_TOKEN)}`,
    `token ${owner.token}`,
    `Bearer ${owner.token}`,
    `Bearer ${head}.${forged.toString('base64url')}.${sig}`,
    `Bearer ${none}.${claims}.`,
  ]
  const url = `${service.url}/twirp/github.actions.results.api.v1.ArtifactService/ListArtifacts`
  for (const authorization of wrong) {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
    const answer = await fetch(url, { method: 'POST', headers, body: '{}' })
    const body = Object(await answer.json())
    expect([authorization, answer.status, body.code]).toEqual([authorization, 401, 'unauthenticated'])
  }
  // Nor does it open the API, or Git.
  expect((await service.client({ token }).get('/version')).status).toBe(401)
})

test('an address works for its purpose and artifact, and not for ever', async () => {
  const { a } = await started()
  await a.client.upload('first', 'first')
  await a.client.upload('second', 'second')
  const upload = await a.client.create('third')
  const download = await a.client.address('first')
  const get = async (address: string) => (await fetch(address)).status
  const changed = (address: string, name: string, value: string) => {
    const url = new URL(address)
    url.searchParams.set(name, value)
    return url.href
  }
  expect(await get(download)).toBe(200)
  const idOf = (address: string) => new URL(address).searchParams.get('artifactID') ?? ''
  const second = await a.client.address('second')
  const wrong = [
    changed(download, 'artifactID', idOf(second)),
    changed(download, 'artifactID', 'x'),
    changed(download, 'expires', '99999999999'),
    changed(download, 'sig', ''),
    changed(download, 'sig', new URL(second).searchParams.get('sig') ?? ''),
    changed(upload, 'x', 'y').replace('UploadArtifact', 'DownloadArtifact'),
    download.split('?')[0] ?? '',
  ]
  for (const address of wrong) expect([address, await get(address)]).toEqual([address, 401])
  expect(await a.client.stage(changed(upload, 'artifactID', idOf(download)), 'a', 'x')).toBe(401)
  expect(await a.client.stage(download.replace('DownloadArtifact', 'UploadArtifact'), 'a', 'x')).toBe(401)
  ahead = 16 * 60_000
  expect(await get(download)).toBe(401)
  expect(await a.client.stage(upload, 'a', 'x')).toBe(201)
  ahead = 7 * 3_600_000
  expect(await a.client.stage(upload, 'b', 'x')).toBe(401)
  ahead = 0
})

test('nothing is seen before it is finalized, and nothing changes it afterwards', async () => {
  const { a, b } = await started()
  const address = await a.client.create('result')
  expect((await a.client.finalize('result', '')).status).toBe(400)
  await a.client.stage(address, 'a', 'wrong')
  await a.client.stage(address, 'a', 'right')
  await a.client.stage(address, 'unused', 'unused')
  expect(await a.client.commit(address, ['a'])).toBe(201)
  // The answer was lost: the same again.
  expect(await a.client.commit(address, ['a'])).toBe(201)
  expect(await b.client.names()).toEqual([])
  expect((await b.client.call('GetSignedArtifactURL', { name: 'result' })).status).toBe(404)
  expect((await a.client.finalize('result', 'wrong')).status).toBe(422)
  expect((await a.client.call('FinalizeArtifact', { name: 'result', size: '6' })).status).toBe(422)
  expect((await b.client.finalize('result', 'right')).status).toBe(404)
  const made = await a.client.finalize('result', 'right')
  expect(made.status).toBe(200)
  expect(await a.client.finalize('result', 'right')).toEqual(made)
  expect((await a.client.finalize('result', 'other')).status).toBe(422)
  expect(await a.client.stage(address, 'a', 'other')).toBe(404)
  expect(await a.client.commit(address, [])).toBe(404)
  for (const { client } of [a, b]) {
    const again = await client.call('CreateArtifact', { name: 'result' })
    expect([again.status, again.body.code]).toEqual([409, 'already_exists'])
  }
  expect(await b.client.download('result')).toBe('right')
  // As `overwrite` does it.
  expect((await b.client.call('DeleteArtifact', { name: 'result' })).body).toEqual(made.body)
  expect((await b.client.call('DeleteArtifact', { name: 'result' })).status).toBe(404)
  await b.client.upload('result', 'newer')
  expect(await a.client.download('result')).toBe('newer')
})

test('of jobs that begin one name at an instant one has it; begun again by the same job it is empty', async () => {
  const { a, b } = await started()
  const both = await Promise.all([a, b].map(({ client }) => client.call('CreateArtifact', { name: 'result' })))
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  const { client } = both[0]?.status === 200 ? a : b
  const old = await client.create('result')
  expect(await client.stage(old, 'a', 'old')).toBe(201)
  const address = await client.create('result')
  expect(await client.stage(old, 'b', 'old')).toBe(404)
  expect(await client.commit(address, ['a'])).toBe(400)
  // Nothing at all is an artifact too.
  expect(await client.commit(address, [])).toBe(201)
  expect((await client.finalize('result', '')).status).toBe(200)
  expect(await client.download('result')).toBe('')
})

test('each attempt at a run has its names for itself, and sees those before it', async () => {
  const { repo, runner, take, a, b } = await started()
  await a.client.upload('kept', 'of the first')
  await a.client.upload('result', 'of the first')
  await runner.end(a.task)
  await runner.end(b.task, 'RESULT_FAILURE')
  await service.drain()
  const run = `${repo.path}/actions/runs/${a.client.ids.workflow_run_backend_id}`
  expect((await owner.client.post(`${run}/rerun`)).status).toBe(201)
  await service.drain()
  const { client } = await take()
  expect(client.ids.workflow_run_backend_id).toBe(a.client.ids.workflow_run_backend_id)
  expect(await client.download('result')).toBe('of the first')
  await client.upload('result', 'of the second')
  expect(await client.names()).toEqual(['kept', 'result'])
  expect(await client.download('result')).toBe('of the second')
})

test('malformed requests are refused in words of the protocol, and nothing is kept', async () => {
  const { a } = await started()
  const before = await service.context.db.$count(actionsArtifacts)
  for (const name of ['', 'a/b', 'a\\b', 'a:b', 'a"b', 'a*b', 'a\nb', ' a', '..', 'x'.repeat(256), 'a\u202eb']) {
    const { status, body } = await a.client.call('CreateArtifact', { name })
    expect([name, status, typeof body.msg]).toEqual([name, 422, 'string'])
  }
  for (const message of [
    {},
    { name: 5 },
    { name: 'x', expires_at: 'soon' },
    { name: 'x', expires_at: '2001-01-01T00:00:00Z' },
    { name: 'x', workflow_run_backend_id: 5 },
  ])
    expect((await a.client.call('CreateArtifact', message)).status).toBe(422)
  expect((await a.client.call('Nothing')).status).toBe(404)
  expect(await service.context.db.$count(actionsArtifacts)).toBe(before)
  const url = `${service.url}/twirp/github.actions.results.api.v1.ArtifactService/ListArtifacts`
  const authorization = `Bearer ${runtimeTokenOf(a.task)}`
  const send = async (type: string, body: string) =>
    (await fetch(url, { method: 'POST', headers: { authorization, 'content-type': type }, body })).status
  expect(await send('application/json', '{')).toBe(422)
  expect(await send('application/protobuf', '')).toBe(415)
  expect(await send('application/json', ' '.repeat(70_000))).toBe(413)

  const address = await a.client.create('result')
  const put = async (more: string, body: string) => (await fetch(`${address}${more}`, { method: 'PUT', body })).status
  expect(await put('', 'x')).toBe(400)
  expect(await put('&comp=page', 'x')).toBe(400)
  expect(await put('&comp=block', 'x')).toBe(400)
  expect(await put('&comp=block&blockid=%3C', 'x')).toBe(400)
  expect(await put(`&comp=block&blockid=${'a'.repeat(89)}`, 'x')).toBe(400)
  expect(await a.client.stage(address, 'a', 'x')).toBe(201)
  const wrong = ['', 'x', '{}', '<BlockList>', '<BlockList><Latest></Latest></BlockList>', '<BlockList>x</BlockList>']
  wrong.push(
    '<BlockList><Committed>YQ==</Committed></BlockList>',
    blockList(['YQ==', 'Yg==']),
    blockList(['YQ==', 'YQ==']),
  )
  wrong.push('<!DOCTYPE x [<!ENTITY a "b">]><BlockList><Latest>&a;</Latest></BlockList>')
  for (const list of wrong) expect([list, await put('&comp=blocklist', list)]).toEqual([list, 400])
})

test('an artifact has its limit, and so have all of an owner; what is refused leaves nothing', async () => {
  const { a, b, repo } = await started()
  await cleaned()
  const before = await stored()
  const address = await a.client.create('large')
  expect(await a.client.stage(address, 'a', 'x'.repeat(MOST + 1))).toBe(413)
  expect(await a.client.stage(address, 'a', 'x'.repeat(MOST))).toBe(201)
  expect(await a.client.stage(address, 'b', 'x')).toBe(413)
  // In place of another block it fits.
  expect(await a.client.stage(address, 'a', 'x'.repeat(MOST - 1))).toBe(201)
  expect(await a.client.stage(address, 'b', 'x')).toBe(201)
  // Blocks count before they are an artifact, those of one instant too.
  const more = await b.client.create('more')
  const again = await b.client.create('again')
  const both = await Promise.all([more, again].map((place) => b.client.stage(place, 'a', 'x'.repeat(MOST))))
  expect(both.sort()).toEqual([201, 413])
  expect(await a.client.commit(address, ['a', 'b'])).toBe(201)
  await cleaned()
  expect(await stored()).toBe(before + 2)
  const [held] = await service.context.sql`select artifact_bytes::int as bytes from repository_counters
    where repository_id = ${repo.id}`
  expect(held?.bytes).toBe(2 * MOST)
  expect(await Array.fromAsync(findWrongCounters(service.context.db, AbortSignal.timeout(600_000)))).toEqual([])
})

test('a run has no more artifacts than MAX_OWNED', async () => {
  const { a } = await started()
  const made: number[] = []
  for (let index = 0; index <= 20; index += 1)
    made.push((await a.client.call('CreateArtifact', { name: `n${index}` })).status)
  expect(made).toEqual([...Array(20).fill(200), 422])
})

test('what expires loses its bytes; what its job did not finish goes whole; a stray object goes after a day', async () => {
  const { a, b, runner, repo } = await started()
  await cleaned()
  const before = await stored()
  await a.client.upload('short', 'short', { expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  await a.client.upload('long', 'long', { expires_at: '2999-01-01T00:00:00Z' })
  await b.client.stage(await b.client.create('half'), 'a', 'half')
  const { objects, sql } = service.context
  await objects.put('artifacts/00/stray', new Blob(['x']).stream(), { maxBytes: 1 })
  await cleaned()
  expect(await stored()).toBe(before + 4)
  expect(await b.client.names()).toEqual(['long', 'short'])
  await runner.end(b.task)
  await cleaned(2)
  expect(await stored()).toBe(before + 2)
  expect(await a.client.names()).toEqual(['long'])
  expect((await a.client.call('CreateArtifact', { name: 'short' })).status).toBe(409)
  await cleaned(25)
  expect(await stored()).toBe(before + 1)
  await cleaned(91 * 24)
  const [held] =
    await sql`select artifact_bytes::int as bytes from repository_counters where repository_id = ${repo.id}`
  expect(held?.bytes).toBe(0)
})

test('with its run, and with its repository, an artifact goes', async () => {
  const first = await started()
  const name = 'result'
  await cleaned()
  const before = await stored()
  await first.a.client.upload(name, 'x')
  await first.runner.end(first.a.task)
  await first.runner.end(first.b.task)
  await service.drain()
  const run = `${first.repo.path}/actions/runs/${first.a.client.ids.workflow_run_backend_id}`
  const address = await (async () => {
    const second = await started()
    await second.a.client.upload(name, 'y')
    await second.b.client.stage(await second.b.client.create('half'), 'a', 'half')
    const address = await second.a.client.address(name)
    expect((await owner.client.delete(second.repo.path)).status).toBe(204)
    return address
  })()
  expect((await fetch(address)).status).toBe(404)
  expect((await service.admin.client.delete(run)).status).toBe(204)
  await cleaned()
  expect(await stored()).toBe(before)
})
