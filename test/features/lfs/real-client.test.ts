import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomFillSync } from 'node:crypto'
import { join } from 'node:path'
import { type S3Server, startS3 } from '../../harness/s3.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { addKey, makeKey, withKey } from '../../harness/ssh.ts'
import { storedKeys } from './stage.ts'

/** A clone with nothing but Node, npm and git must pass: the other files of this folder speak the protocol themselves. */
const withGitLfs = test.skipIf(Bun.which('git-lfs') === null)

let service: TestService
let owner: TestUser
let repo: TestRepository
let s3: S3Server
beforeAll(() => {
  s3 = startS3()
})
afterAll(() => s3.stop())

/** A clone in which git-lfs looks after `*.bin`. */
async function clone(url: string, name: string, env: Record<string, string> = {}) {
  await service.git(['clone', '-q', url, name], { env })
  const cwd = join(service.git.folder, name)
  const git = (...args: string[]) => service.git(args, { cwd, env })
  await git('lfs', 'install', '--local')
  await git('lfs', 'pull')
  return { cwd, git, digest: async () => digestOf(await Bun.file(join(cwd, 'large.bin')).bytes()) }
}

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function commitLarge({ cwd, git }: Awaited<ReturnType<typeof clone>>, bytes = 3_000_000): Promise<string> {
  const noise = randomFillSync(Buffer.alloc(bytes))
  await Bun.write(join(cwd, 'large.bin'), noise)
  await git('lfs', 'track', '*.bin')
  await git('add', '-A')
  await git('commit', '-qm', 'large')
  return digestOf(noise)
}

describe.each([
  ['on the disk', () => ({})],
  ['in a bucket', () => s3.settings],
] as const)('objects %s,', (_, storage) => {
  beforeAll(async () => {
    service = await startTestService({ settings: { SSH_ENABLED: 'true', SSH_PORT: '0', ...storage() } })
    owner = await service.createUser('owner')
    repo = await service.createRepository(owner, { name: 'big' })
  })
  afterAll(() => service.stop())

  withGitLfs('git lfs pushes and clones over HTTP, and locks (skipped where git-lfs is not installed)', async () => {
    const here = await clone(repo.cloneUrl, 'here')
    const digest = await commitLarge(here)
    await here.git('push', '-q', 'origin', 'main')
    expect(await here.git('cat-file', 'blob', 'HEAD:large.bin')).toContain(`oid sha256:${digest}`)
    expect(await (await clone(repo.cloneUrl, 'there')).digest()).toBe(digest)
    expect(await here.git('lfs', 'lock', 'large.bin')).toContain('Locked large.bin')
    expect(await here.git('lfs', 'locks')).toContain('owner')
    expect(await here.git('lfs', 'locks', '--verify')).toContain('O large.bin')
    expect(await here.git('lfs', 'unlock', 'large.bin')).toContain('Unlocked large.bin')
  })

  withGitLfs('over SSH, with the key alone (skipped where git-lfs is not installed)', async () => {
    const key = makeKey(service)
    await addKey(owner, key)
    const url = `${service.context.sshRoot}owner/big.git`
    const here = await clone(url, 'ssh-here', withKey(key))
    const digest = await commitLarge(here)
    await here.git('push', '-q', 'origin', 'main')
    expect(await (await clone(url, 'ssh-there', withKey(key))).digest()).toBe(digest)
  })

  withGitLfs(
    'a push that was broken off is completed by the next (skipped where git-lfs is not installed)',
    async () => {
      const here = await clone(repo.cloneUrl, 'broken')
      const digest = await commitLarge(here, 20_000_000)
      const before = await storedKeys(service)
      const child = Bun.spawn(['git', '-C', here.cwd, 'lfs', 'push', 'origin', 'main'], {
        env: { PATH: process.env.PATH ?? '', HOME: here.cwd, GIT_TERMINAL_PROMPT: '0' },
        stdout: 'ignore',
        stderr: 'ignore',
      })
      // At any moment of its work; where it was too late the second push has nothing to send.
      await Bun.sleep(Math.random() * 200)
      child.kill('SIGKILL')
      await child.exited
      await here.git('push', '-q', 'origin', 'main')
      expect((await storedKeys(service)).length).toBe(before.length + 1)
      expect(await (await clone(repo.cloneUrl, 'completed')).digest()).toBe(digest)
    },
  )
})
