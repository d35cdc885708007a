import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceDurable } from '../../../kernel/durable.ts'
import { GitError } from '../../errors.ts'
import type { Call, Ref, RefChange } from '../../model.ts'
import { isObjectId, isValidBranchName, isValidRefName } from '../../names.ts'
import { isObjectType } from '../../objects.ts'
import { runGit } from '../process/process.ts'
import { objectFormatOf, requireFolder, type Store } from '../store.ts'
import { updateBetweenHooks } from './hooked-update.ts'
import { hookRun } from './hooks.ts'

const MAX_REFS = 100_000
const FORMAT = '%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)'

export interface RefQuery {
  prefix?: string
  offset?: number
  limit?: number
  sort?: 'name' | 'newest'
}

export async function listRefs(store: Store, id: number, query: RefQuery = {}, call?: Call): Promise<Ref[]> {
  const { prefix = 'refs/', offset = 0, sort = 'name' } = query
  const limit = Math.min(query.limit ?? MAX_REFS, MAX_REFS)
  if (!isPrefix(prefix)) throw invalidName(prefix)
  const folder = await requireFolder(store.runner.root, id)
  const order = sort === 'newest' ? ['--sort=refname', '--sort=-committerdate'] : ['--sort=refname']
  const args = ['for-each-ref', `--format=${FORMAT}`, ...order, `--count=${offset + limit}`, '--', prefix]
  const { stdout } = await runGit(store.runner, { args, folder, call })
  return stdout.toString().split('\n').slice(offset, -1).flatMap(parseRef)
}

const isPrefix = (prefix: string) =>
  prefix === 'refs/' || isValidRefName(prefix.replace(/\/$/, '')) || isValidRefName(`${prefix.replace(/\/$/, '')}/x`)

function parseRef(line: string): Ref[] {
  const [name = '', sha = '', type = '', peeledSha = '', peeledType = ''] = line.split('\0')
  if (!isObjectType(type)) return []
  return [{ name, sha, type, ...(isObjectType(peeledType) && { peeled: { sha: peeledSha, type: peeledType } }) }]
}

const invalidName = (name: string) => new GitError('invalid', 'ref-name', 'not a ref name', { subject: name })

/** One transaction of `git update-ref`: either every ref has its old value and moves, or none does. */
export async function updateRefs(store: Store, id: number, changes: RefChange[], call?: Call): Promise<void> {
  if (changes.length === 0) return
  const zero = '0'.repeat((await objectFormatOf(store, id)) === 'sha256' ? 64 : 40)
  const lines = changes.map((change) => {
    if (!isValidRefName(change.ref)) throw invalidName(change.ref)
    for (const sha of [change.old, change.new]) {
      if (typeof sha === 'string' && sha.length !== zero.length) throw noObject(sha)
      if (typeof sha === 'string' && !isObjectId(sha)) throw noObject(sha)
    }
    const old = change.old === null ? zero : (change.old ?? '')
    return change.new === null ? `delete ${change.ref}\0${old}\0` : `update ${change.ref}\0${change.new}\0${old}\0`
  })
  const folder = await requireFolder(store.runner.root, id)
  const command = { args: ['update-ref', '-z', '--stdin'], folder, stdin: lines.join(''), call, accepts: [0, 1, 128] }
  const move = async () => {
    const { exitCode, stderr } = await runGit(store.runner, command)
    if (exitCode !== 0) throw updateFailure(stderr, changes)
  }
  const hooks = await hookRun(store, folder, { id, call })
  if (hooks === undefined) return move()
  const moves = await Promise.all(
    changes.map(async ({ ref, old, new: next }) => {
      const known =
        old === undefined
          ? (await listRefs(store, id, { prefix: ref }, call)).find(({ name }) => name === ref)?.sha
          : old
      return { ref, old: known ?? zero, new: next ?? zero }
    }),
  )
  await updateBetweenHooks(store, { folder, moves, hooks, call }, move)
}

const noObject = (sha: string) =>
  new GitError('not-found', 'object', 'not an object of this repository', { subject: sha })

/** The sentences of git 2.39-2.50 (LC_ALL=C); each race of two writers ends in one of the first two groups. */
const FAILURES: readonly (readonly [RegExp, GitError['kind'], GitError['code'], string])[] = [
  [
    /exists; cannot create|cannot process '.*' and '.*' at the same time|non-empty directory/,
    'conflict',
    'ref-name-conflict',
    'a ref stands where the name needs a folder',
  ],
  [
    /but expected|reference already exists|unable to resolve reference|reference is missing|\.lock'?: File exists/,
    'conflict',
    'ref-moved',
    'the ref is not where it was expected',
  ],
  [/non-commit object/, 'invalid', 'object-type', 'a branch holds commits only'],
  [
    /nonexistent object|not a valid SHA1|missing object|bad object/,
    'not-found',
    'object',
    'not an object of this repository',
  ],
  [/multiple updates for|refusing to update|invalid ref/, 'invalid', 'ref-name', 'git refuses the name'],
]

function updateFailure(stderr: string, changes: RefChange[]): GitError {
  const subject = changes.find(({ ref }) => stderr.includes(`'${ref}'`))?.ref ?? changes[0]?.ref ?? ''
  for (const [pattern, kind, code, message] of FAILURES) {
    if (pattern.test(stderr)) return new GitError(kind, code, message, { subject, stderr })
  }
  return new GitError('failed', 'program', 'git update-ref failed', { subject, stderr })
}

export async function getHead(store: Store, id: number): Promise<string> {
  const text = await readFile(join(await requireFolder(store.runner.root, id), 'HEAD'), 'utf8')
  return /^ref: *(\S+)/.exec(text)?.[1] ?? 'HEAD'
}

/**
 * In process: `git symbolic-ref` would not flush the file (2.39). Without git's lock on HEAD, which git takes for every push to the
 * branch that HEAD names and writes nothing under: waiting for it would gain nothing, and one that a killed process left would keep
 * the repair at start from its work.
 */
export async function setHead(store: Store, id: number, branch: string): Promise<void> {
  if (!isValidBranchName(branch)) throw invalidName(branch)
  const folder = await requireFolder(store.runner.root, id)
  await replaceDurable(join(folder, 'HEAD'), `ref: refs/heads/${branch}\n`)
}
