import { mkdir } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join, resolve as resolvePath } from 'node:path'
import { syncFolder } from '../../kernel/durable.ts'
import { type Clock, systemClock } from '../../kernel/time.ts'
import type { Git } from '../engine.ts'
import type { GitRepair } from '../repair.ts'
import { CREATING, REPOSITORIES, TRASH } from '../storage.ts'
import { Memo } from './cache/memo.ts'
import { StreamCache } from './cache/stream-cache.ts'
import { aheadBehind, isAncestor, mergeBase } from './history/ancestry.ts'
import { changes, diff } from './history/changes.ts'
import { countCommits, log } from './history/history.ts'
import { lastCommits } from './history/last-commits.ts'
import { lookAt } from './history/look.ts'
import { fetchCommit, mergeCommits } from './history/merge.ts'
import { cleanStale, cleanStore, fsck, listHalfBuilt, listStale, sizeOnDisk } from './maintenance/maintenance.ts'
import { maintain, maintainIfNeeded } from './maintenance/repack.ts'
import {
  folderState,
  isWhole,
  listBrokenRefs,
  listEmptyObjects,
  repairObjects,
  replaceRef,
  restoreFolder,
  setAside,
} from './maintenance/repair.ts'
import { readAttributes } from './objects/attributes.ts'
import { openBlob, readBlob, sizes } from './objects/blobs.ts'
import { readPatch } from './objects/patch.ts'
import { Readers } from './objects/readers.ts'
import { smallBlobs } from './objects/small-blobs.ts'
import { findEntry, readTree } from './objects/trees.ts'
import { commitFiles, createTag, readTag } from './objects/write.ts'
import { gitEnvironment } from './process/environment.ts'
import { Limiter } from './process/limiter.ts'
import { probeGit } from './process/probe.ts'
import { installHookRunners, listHooks, setHook } from './refs/hooks.ts'
import { getHead, listRefs, setHead, updateRefs } from './refs/refs.ts'
import { findBranch, findCommit, findObject, readCommit, readCommits, resolveObject } from './refs/revisions.ts'
import { forkRepository } from './repositories/fork.ts'
import { copyTree } from './repositories/generate.ts'
import { createRepository, listStoredIds, removeRepository } from './repositories/repositories.ts'
import { importRepository, isUnadopted, listUnadopted, removeUnadopted } from './repositories/unadopted.ts'
import { createRefLists, folderOf, isRepository, objectFormatOf, requireFolder, type Store } from './store.ts'
import { archive, findArchive } from './transport/archive.ts'
import { fetchRemote, forgetRemote, listRemote, pushRemote } from './transport/remote.ts'
import { serveRemoteArchive } from './transport/remote-archive.ts'
import { advertise, converse, serve } from './transport/transport.ts'

export interface GitOption {
  repositoriesDir: string
  /** The program; found on the path when left out. */
  gitBinary?: string
  clock?: Clock
  /** Short commands at once (8), transfers at once (16), and callers that may wait for each (200). */
  maxProcesses?: number
  maxTransfers?: number
  maxQueue?: number
  /** Idle cat-file processes (16), each ended after so long without a question (60,000 ms). */
  maxReaders?: number
  readerIdleMs?: number
  /** Deadlines: a short command (30 s), a transfer (1 h). */
  commandTimeoutMs?: number
  transferTimeoutMs?: number
  /** Of one command whose output is gathered (64 MiB). */
  maxOutputBytes?: number
  /** Of one command that walks what somebody pushed (1 GiB). */
  maxMemoryBytes?: number
  /** Of all git processes together (half of what the machine, or its cgroup, has). */
  maxTotalMemoryBytes?: number
  /** Of one push, unless the call says otherwise (4 GiB). */
  maxPushBytes?: number
  /** Files on their way to clients, and for those who ask for the same. Without it, and with 0 bytes, git writes to each client. */
  streamCache?: { folder: string; maxBytes: number }
  /** Lets hooks run, each for so long. Without it none does, also where some are set. */
  hookSeconds?: number
}

/** Makes the engine over a folder. Throws `failed` `program` when git is missing or older than 2.39. */
export async function createGit(option: GitOption): Promise<Git> {
  const { binary, version, objectFormats } = await probeGit(option.gitBinary)
  const root = resolvePath(option.repositoriesDir)
  await mkdir(root, { recursive: true })
  for (const name of [REPOSITORIES, CREATING, TRASH]) await mkdir(join(root, name), { recursive: true })
  await installHookRunners(root, option.hookSeconds)
  await syncFolder(root)
  return { version, objectFormats, ...bind(openStore(option, { binary, version, root })) }
}

function openStore(
  option: GitOption,
  { binary, version, root }: { binary: string; version: string; root: string },
): Store {
  const environment = gitEnvironment(binary)
  const maxQueue = option.maxQueue ?? 200
  const timeouts = { commandMs: option.commandTimeoutMs ?? 30_000, transferMs: option.transferTimeoutMs ?? 3_600_000 }
  const clock = option.clock ?? systemClock
  const memory = shareMemory(option)
  const runner = {
    binary,
    root,
    environment,
    clock,
    limiter: new Limiter({
      places: { command: option.maxProcesses ?? 8, transfer: option.maxTransfers ?? 16 },
      maxQueue,
      maxMemoryBytes: memory.totalBytes,
    }),
    timeouts,
    maxOutputBytes: option.maxOutputBytes ?? 64 * 1024 * 1024,
    maxMemoryBytes: memory.commandBytes,
  }
  return {
    version,
    runner,
    readers: new Readers({
      binary,
      environment,
      folderOf: (id) => folderOf(root, id),
      requireFolder: (id) => requireFolder(root, id),
      max: option.maxReaders ?? 16,
      maxQueue,
      idleMs: option.readerIdleMs ?? 60_000,
      timeoutMs: timeouts.commandMs,
    }),
    formats: new Memo(10_000),
    offers: new Map(),
    refLists: createRefLists(clock),
    streams: openStreams(option, clock),
    counts: new Memo(2000),
    logs: new Memo(1000),
    changes: new Memo(5000),
    lastCommits: new Memo(500),
    maxPushBytes: option.maxPushBytes ?? 4 * 1024 ** 3,
    hookSeconds: option.hookSeconds,
  }
}

/** Four commands that need much run at once at least, so that one of them never has to wait for an empty machine. */
function shareMemory({ maxMemoryBytes = 1024 ** 3, maxTotalMemoryBytes = memoryOfMachine() / 2 }: GitOption) {
  return { totalBytes: maxTotalMemoryBytes, commandBytes: Math.min(maxMemoryBytes, maxTotalMemoryBytes / 4) }
}

/** Or of its cgroup, if that has less. */
const memoryOfMachine = (): number => Math.min(totalmem(), process.constrainedMemory() || totalmem())

function openStreams({ streamCache = { folder: '', maxBytes: 0 } }: GitOption, clock: Clock): StreamCache {
  const streams = new StreamCache({ ...streamCache, clock })
  // What cannot be cleaned now is cleaned by the periodic task.
  void streams.clean().catch(() => undefined)
  return streams
}

function bind(store: Store): Omit<Git, 'version' | 'objectFormats'> {
  const { root } = store.runner
  return {
    createRepository: (id, repository) => createRepository(store, id, repository),
    removeRepository: (id) => removeRepository(store, id),
    repair: bindRepair(store),
    exists: (id) => isRepository(folderOf(root, id)),
    listStoredIds: () => listStoredIds(store),
    importRepository: (id, folder) => importRepository(store, id, folder),
    forkRepository: (id, sourceId, option, call) => forkRepository(store, id, sourceId, option, call),
    copyTree: (id, option, call) => copyTree(store, id, option, call),
    listUnadopted: () => listUnadopted(store),
    isUnadopted: (folder) => isUnadopted(store, folder),
    removeUnadopted: (folder) => removeUnadopted(store, folder),
    objectFormat: (id) => objectFormatOf(store, id),
    listHooks: (id) => listHooks(store, id),
    setHook: (id, hook) => setHook(store, id, hook),
    getHead: (id) => getHead(store, id),
    setHead: (id, branch) => setHead(store, id, branch),
    listRefs: (id, query, call) => listRefs(store, id, query, call),
    updateRefs: (id, refs, call) => updateRefs(store, id, refs, call),
    resolve: (id, revision, call) => resolveObject(store, id, revision, call),
    find: (id, revision, call) => findObject(store, id, revision, call),
    findCommit: (id, revision, call) => findCommit(store, id, revision, call),
    findBranch: (id, name, call) => findBranch(store, id, name, call),
    readCommit: (id, revision, call) => readCommit(store, id, revision, call),
    readCommits: (id, shas, call) => readCommits(store, id, shas, call),
    log: (id, query, call) => log(store, id, query, call),
    countCommits: (id, query, call) => countCommits(store, id, query, call),
    mergeBase: (id, one, other, call) => mergeBase(store, id, [one, other], call),
    isAncestor: (id, ancestor, descendant, call) => isAncestor(store, id, [ancestor, descendant], call),
    aheadBehind: (id, head, base, call) => aheadBehind(store, id, [head, base], call),
    readTree: (id, query, call) => readTree(store, id, query, call),
    findEntry: (id, revision, path, call) => findEntry(store, id, revision, path, call),
    lastCommits: (id, query, call) => lastCommits(store, id, query, call),
    readBlob: (id, revision, limits, call) => readBlob(store, id, revision, limits, call),
    openBlob: (id, revision, call) => openBlob(store, id, revision, call),
    sizes: (id, shas, call) => sizes(store, id, shas, call),
    smallBlobs: (id, option, call) => smallBlobs(store, id, option, call),
    readAttributes: (id, query, call) => readAttributes(store, id, query, call),
    changes: (id, query, call) => changes(store, id, query, call),
    diff: (id, query, call) => diff(store, id, query, call),
    readPatch: (id, option, call) => readPatch(store, id, option, call),
    commitFiles: (id, commit, call) => commitFiles(store, id, commit, call),
    fetchCommit: (id, from, call) => fetchCommit(store, id, from, call),
    mergeCommits: (id, option, call) => mergeCommits(store, id, option, call),
    readTag: (id, sha, call) => readTag(store, id, sha, call),
    createTag: (id, tag, call) => createTag(store, id, tag, call),
    findArchive: (id, query) => findArchive(store, id, query),
    archive: (id, query, call) => archive(store, id, query, call),
    advertise: (id, service, protocol, call) => advertise(store, id, service, protocol, call),
    serve: (id, service, request) => serve(store, id, service, request),
    look: (id) => lookAt(store, id),
    listRemote: (remote, call) => listRemote(store, remote, call),
    fetchRemote: (id, option, call) => fetchRemote(store, id, option, call),
    forgetRemote: (id, call) => forgetRemote(store, id, call),
    pushRemote: (id, remote, call) => pushRemote(store, id, remote, call),
    sizeOnDisk: (id) => sizeOnDisk(store, id),
    fsck: (id, depth, call) => fsck(store, id, depth, call),
    maintain: (id, depth, call) => maintain(store, id, depth, call),
    maintainIfNeeded: (id, call) => maintainIfNeeded(store, id, call),
    converse: (id, request) => converse(store, id, request),
    serveRemoteArchive: (id, request) => serveRemoteArchive(store, id, request),
    cleanStale: (id, seconds, lockSeconds) => cleanStale(store, id, seconds, lockSeconds),
    cleanStore: (seconds) => cleanStore(store, seconds),
    cleanStreams: () => store.streams.clean(),
    close: () => store.readers.close(),
  }
}

function bindRepair(store: Store): GitRepair {
  return {
    folderState: (id) => folderState(store, id),
    restoreFolder: (id, option) => restoreFolder(store, id, option),
    listStale: (id, seconds, lockSeconds) => listStale(store, id, seconds, lockSeconds),
    listHalfBuilt: (seconds) => listHalfBuilt(store, seconds),
    listEmptyObjects: (id) => listEmptyObjects(store, id),
    repairObjects: (id, call) => repairObjects(store, id, call),
    listBrokenRefs: (id, call) => listBrokenRefs(store, id, call),
    isWhole: (id, sha, call) => isWhole(store, id, sha, call),
    replaceRef: (id, name, sha) => replaceRef(store, id, name, sha),
    setAside: (id, place) => setAside(store, id, place),
  }
}
