import { randomBytes } from 'node:crypto'
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitOption } from '../../src/git/cli/git.ts'
import type { ObjectFormat } from '../../src/git/model.ts'
import { DELIMITER, encodePacket, FLUSH } from '../../src/git/packet.ts'
import { commit, initialCommit, must, openServer, openStage, type Stage } from './stage.ts'

export const MIB = 1024 ** 2

/** The engine with a cache of streams, over a git that notes each start of upload-pack, behind a server. */
export interface CachedStage extends Stage {
  url(id: number): string
  /** Folder of the cache. */
  packs: string
  /** Names of the packs that are cached for a repository, when nothing is being written any more. */
  cached(id: number): Promise<string[]>
  /** How often git was started for clients so far, or with another command. */
  started(command?: string): Promise<number>
  /** Holds every git that is started for a client, until what is returned is called. */
  hold(): Promise<() => Promise<void>>
  /** Moves the clock. */
  wait(ms: number): void
}

export async function openCachedStage(maxBytes = 100 * MIB, option: Partial<GitOption> = {}): Promise<CachedStage> {
  const place = await openStage()
  const gitBinary = await noteStarts(place.work('git'))
  const packs = place.work('packs')
  let now = Date.parse('2026-01-02T03:04:05Z')
  const clock = { now: () => new Date(now) }
  const stage = await openStage({ gitBinary, streamCache: { folder: packs, maxBytes }, clock, ...option })
  const server = openServer(stage)
  const names = (id: number) => readdir(join(packs, String(id))).catch(() => [])
  return {
    ...stage,
    url: server.url,
    packs,
    async cached(id) {
      let found = await names(id)
      while (found.some((name) => name.startsWith('.'))) {
        await Bun.sleep(2)
        found = await names(id)
      }
      return found
    },
    started: async (command = 'upload-pack') =>
      (await readFile(`${gitBinary}.log`, 'utf8').catch(() => '')).split('\n').filter((line) => line === command)
        .length,
    async hold() {
      await writeFile(`${gitBinary}.held`, '')
      return () => rm(`${gitBinary}.held`)
    },
    wait: (ms) => {
      now += ms
    },
    async close() {
      await server.close()
      await stage.close()
      await place.close()
    },
  }
}

async function noteStarts(path: string): Promise<string> {
  const lines = [
    '#!/bin/sh',
    'for word in "$@"; do case "$word" in --*) ;; *) echo "$word" >>"$0.log"; break ;; esac; done',
    'if [ "$1" = upload-pack ]; then',
    '  while [ -e "$0.held" ]; do sleep 0.01; done',
    'fi',
    `exec ${Bun.which('git')} "$@"`,
  ]
  await writeFile(path, `${lines.join('\n')}\n`)
  await chmod(path, 0o755)
  return path
}

let clones = 0

/** Clones into a fresh folder and checks every object. */
export async function clone(stage: CachedStage, id: number, option: readonly string[] = [], version = '2') {
  clones += 1
  const path = stage.work(`clone-${clones}`)
  await must(['-c', `protocol.version=${version}`, 'clone', '-q', ...option, stage.url(id), path])
  await must(['fsck', '--full', '--strict'], path)
  return path
}

/** Two commits and one file of random content. Returns the second commit. */
export async function createWithData(
  { git, folder }: Stage,
  id: number,
  { bytes = 1000, objectFormat = 'sha1' }: { bytes?: number; objectFormat?: ObjectFormat } = {},
): Promise<string> {
  await git.createRepository(id, { objectFormat, defaultBranch: 'main', initialCommit })
  await commit(git, id, [{ op: 'put', path: 'data', content: randomBytes(bytes) }])
  return must(['rev-parse', 'main'], folder(id))
}

/** One request as a client sends it; the answer as bytes. */
export async function ask(stage: CachedStage, id: number, lines: readonly (string | Buffer)[], version = '2') {
  const answer = await send(stage, id, lines, version)
  return Buffer.from(await answer.arrayBuffer()).toString('latin1')
}

export function send(
  stage: CachedStage,
  id: number,
  lines: readonly (string | Buffer)[],
  version = '2',
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${stage.url(id)}/git-upload-pack`, {
    method: 'POST',
    headers: { 'git-protocol': `version=${version}` },
    body: encodeRequest(lines),
    ...(signal && { signal }),
  })
}

export const encodeRequest = (lines: readonly (string | Buffer)[]): Buffer<ArrayBuffer> =>
  Buffer.concat(lines.map((line) => (typeof line === 'string' ? encodePacket(line) : line)))

/** What refs there are, by version 2. */
export const listing = ['command=ls-refs\n', DELIMITER, 'symrefs\n', 'ref-prefix refs/\n', FLUSH]
/** A clone of one commit. */
export const wanting = (sha: string) => ['command=fetch', DELIMITER, 'ofs-delta', `want ${sha}\n`, 'done\n', FLUSH]
/** The same by the versions before. */
export const wantingFirst = (sha: string) => [`want ${sha} ofs-delta side-band-64k\n`, FLUSH, 'done\n']
