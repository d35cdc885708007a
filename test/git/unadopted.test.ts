import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, initialCommit, must, openStage, type Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
  await stage.git.createRepository(1, { objectFormat: 'sha256', defaultBranch: 'main', initialCommit })
  for (const name of ['ann/one', 'ann/two', 'bob/three']) {
    await must(['clone', '-q', '--mirror', stage.folder(1), join(stage.root, `${name}.git`)])
  }
})

afterAll(() => stage.close())

test('lists folders of owners, never links and never our own', async () => {
  await mkdir(stage.work('outside/secret.git'), { recursive: true })
  await symlink(stage.work('outside'), join(stage.root, 'eve'))
  await symlink(stage.work('outside/secret.git'), join(stage.root, 'ann', 'link.git'))
  await mkdir(join(stage.root, 'ann', 'no-repository'))
  await mkdir(join(stage.root, 'ann', '.git'))
  await mkdir(join(stage.root, '@repositories', 'x.git'))
  expect(await Array.fromAsync(stage.git.listUnadopted())).toEqual([
    { owner: 'ann', name: 'one' },
    { owner: 'ann', name: 'two' },
    { owner: 'bob', name: 'three' },
  ])
  expect(await stage.git.isUnadopted({ owner: 'ann', name: 'one' })).toBe(true)
  for (const [owner, name] of [
    ['ann', 'link'],
    ['eve', 'secret'],
    ['..', 'x'],
    ['@repositories', 'x'],
  ] as const)
    expect([owner, await stage.git.isUnadopted({ owner, name })]).toEqual([owner, false])
})

test('copies what git needs, and leaves behind what could run or lead away', async () => {
  const source = join(stage.root, 'ann', 'one.git')
  await mkdir(join(source, 'hooks'), { recursive: true })
  await writeFile(join(source, 'hooks', 'post-receive'), '#!/bin/sh\n', { mode: 0o755 })
  await cp(join(source, 'hooks'), join(source, 'server-hooks'), { recursive: true })
  await must(['--git-dir', source, 'config', 'core.sshCommand', 'evil'])
  await must(['--git-dir', source, 'tag', 'v1', 'main'])
  await stage.git.importRepository(2, { owner: 'ann', name: 'one' })
  expect(await stage.git.listRefs(2)).toHaveLength(2)
  expect(await stage.git.getHead(2)).toBe('refs/heads/main')
  expect(await readFile(join(stage.folder(2), 'config'), 'utf8')).not.toContain('evil')
  expect(await Bun.file(join(stage.folder(2), 'hooks/post-receive')).exists()).toBe(false)
  expect((await stage.git.listHooks(2)).map(({ content }) => content)).toEqual([undefined, undefined, undefined])
  expect(await stage.git.fsck(2, { isFull: true })).toEqual({ isSound: true, problems: [] })
  expect(await Bun.file(join(source, 'HEAD')).exists()).toBe(true)
  expect(await codeOf(stage.git.importRepository(2, { owner: 'ann', name: 'one' }))).toBe('repository-exists')
})

test.each([
  { owner: '..', name: 'x' },
  { owner: 'ann', name: '../../outside/secret' },
  { owner: 'ann/..', name: 'one' },
  { owner: 'ann', name: 'link' },
  { owner: 'eve', name: 'secret' },
  { owner: '@repositories', name: '01/1' },
  { owner: 'ann', name: 'one\0' },
  { owner: 'ann', name: 'gone' },
])('does not touch %j', async (folder) => {
  expect(await codeOf(stage.git.importRepository(9, folder))).toBe('repository')
  expect(await codeOf(stage.git.removeUnadopted(folder))).toBe('repository')
  expect(await stage.git.exists(9)).toBe(false)
})

test('refuses links inside, foreign object stores and damage', async () => {
  const two = join(stage.root, 'ann', 'two.git')
  await symlink('/etc/passwd', join(two, 'refs', 'heads', 'link'))
  expect(await codeOf(stage.git.importRepository(3, { owner: 'ann', name: 'two' }))).toBe('content')
  const three = join(stage.root, 'bob', 'three.git')
  await rename(join(three, 'objects'), join(three, 'elsewhere'))
  await mkdir(join(three, 'objects', 'info'), { recursive: true })
  await mkdir(join(three, 'objects', 'pack'))
  await writeFile(join(three, 'objects', 'info', 'alternates'), `${join(stage.folder(1), 'objects')}\n`)
  expect(await codeOf(stage.git.importRepository(3, { owner: 'bob', name: 'three' }))).toBe('content')
  expect(await stage.git.exists(3)).toBe(false)
  await stage.git.removeUnadopted({ owner: 'bob', name: 'three' })
  expect(await stage.git.isUnadopted({ owner: 'bob', name: 'three' })).toBe(false)
})
