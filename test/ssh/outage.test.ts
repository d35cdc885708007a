import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from '../../db/connect.ts'
import { hostRepository, workTree } from '../features/transport/hosted.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { addKey, makeKey, withKey } from '../harness/ssh.ts'

let service: TestService
beforeAll(async () => {
  const settings = { SSH_ENABLED: 'true', SSH_PORT: '0', DATABASE_TIMEOUT_SECONDS: '1' }
  service = await startTestService({ settings })
})
afterAll(() => service.stop())

test('who comes by SSH is told, too, that it is the database and that a second try may help', async () => {
  const owner = await service.createUser()
  const key = makeKey(service)
  await addKey(owner, key)
  const repo = await hostRepository(service, owner)
  const cwd = await workTree(service.git)
  const address = `${service.context.sshRoot}${owner.name}/${repo.name}.git`
  const list = () => service.git.run(['ls-remote', address], { cwd, env: withKey(key) })
  const other = connect(service.databaseUrl, { max: 1 })
  await other.begin(async (tx) => {
    // The key is still recognized; the repository waits.
    await tx`lock table repositories in access exclusive mode`
    const refused = await list()
    expect([refused.exitCode, refused.stdout]).toEqual([128, ''])
    expect(refused.stderr).toContain('Hearth: the database took too long, try again')
  })
  await other.end()
  expect((await list()).exitCode).toBe(0)
})
