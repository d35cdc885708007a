import { sha256Hex } from '../../kernel/hashing.ts'
import type { Call, Served, ServeRequest } from '../model.ts'
import { overheard } from './answers.ts'
import { startDeadline } from './deadline.ts'
import { type FetchQuestion, type PlainClone, readFetchRequest } from './fetch-request.ts'
import type { PackCache, PackKey } from './pack-cache.ts'
import { type Child, type Exit, startGit } from './process.ts'
import { type RefState, readRefState } from './ref-state.ts'
import { ENDED_WELL, isSecondVersion, protocolVariables, remembered, report, SETTINGS, served } from './services.ts'
import { isRepository, objectFormatOf, requireFolder, type Store } from './store.ts'
import { inWidePackets } from './wide-packets.ts'

/** What an answer is made from. */
interface Subject {
  id: number
  folder: string
  protocol: string | undefined
}

/**
 * One stateless request to upload-pack. What refs there are is told from memory as long as none moves, and a pack that several
 * clients ask for is made once. Who may read the repository has been judged before, for each request.
 */
export async function serveFetch(store: Store, id: number, request: ServeRequest): Promise<Served> {
  const folder = await requireFolder(store.runner.root, id)
  const environment = protocolVariables(request.protocol)
  const isSecond = isSecondVersion(environment)
  const { question, body } = await readBody(store, request, isSecond)
  const ask = (call: Call) =>
    startGit(store.runner, {
      args: ['upload-pack', '--stateless-rpc', folder],
      subject: folder,
      settings: SETTINGS['upload-pack'],
      environment,
      stdin: body,
      call,
      isTransfer: true,
    })
  const subject = { id, folder, protocol: environment.GIT_PROTOCOL }
  const askAlone = async () => served(await ask(request))
  if (question?.kind === 'refs') return answerRefs(store, subject, question.asked, askAlone)
  const assembled = question?.plain && (await answerAssembled(store, subject, question.plain, request.signal))
  if (assembled) return assembled
  if (question?.kind !== 'clone' || !store.packs) return askAlone()
  return answerClone(store, store.packs, {
    subject,
    question,
    signal: request.signal,
    askAlone,
    // Whoever reads it afterwards gains more than it costs now.
    askForAll: isSecond ? async () => withWidePackets(await ask({})) : () => ask({}),
  })
}

/** From what lies on the disk, if that is what is asked for. */
async function answerAssembled(
  store: Store,
  { id, folder }: Subject,
  { wants, format }: PlainClone,
  signal: AbortSignal | undefined,
): Promise<Served | undefined> {
  // Git tells a client that speaks of other ids.
  if ((await objectFormatOf(store, id)) !== format) return undefined
  const opened = await store.assemblies.open({ id, folder, format, wants })
  if (!opened) return undefined
  signal?.addEventListener('abort', () => void opened.close(), { once: true })
  if (signal?.aborted) await opened.close()
  return { stream: opened.stream(), done: Promise.resolve(ENDED_WELL) }
}

async function readBody(store: Store, request: ServeRequest, isSecond: boolean) {
  const deadline = startDeadline(request, store.runner.timeouts.transferMs)
  return readFetchRequest(request.body, { isSecond, deadline }).finally(() => deadline.clear())
}

/** An answer that depends on the refs and the question alone. `ask` is asked unless it is known. */
export async function answerRefs(
  store: Store,
  subject: Subject,
  question: string,
  ask: () => Promise<Served>,
): Promise<Served> {
  const state = await readRefState(subject.folder)
  if (!state) return ask()
  const digest = digestOf(store, subject, state, question)
  const known = store.answers.find(digest)
  if (known) return remembered(known)
  const keep = store.answers.place(digest)
  const { stream, done } = await ask()
  const hear = async (answer: Uint8Array<ArrayBuffer>) => {
    if (isWell(await done) && (await isUnmoved(subject, state))) keep(answer)
  }
  return { stream: overheard(stream, (answer) => void hear(answer).catch(() => undefined)), done }
}

/** Without a word on the side, which would be a warning of damage. */
const isWell = ({ exitCode, stderr }: Pick<Exit, 'exitCode' | 'stderr'>): boolean => exitCode === 0 && stderr === ''

async function isUnmoved({ folder }: Subject, { stamp }: RefState): Promise<boolean> {
  return (await readRefState(folder))?.stamp === stamp
}

function digestOf(store: Store, subject: Subject, state: RefState, question: string): string {
  const { version, runner } = store
  const settings = [version, runner.environment, SETTINGS['upload-pack']]
  return sha256Hex(JSON.stringify([settings, subject.id, subject.protocol, state.fingerprint, question]))
}

const withWidePackets = (child: Child): Child => ({ ...child, stdout: inWidePackets(child.stdout) })

interface Clone {
  subject: Subject
  question: FetchQuestion
  signal: AbortSignal | undefined
  askAlone(): Promise<Served>
  /** Not ended with the request that it was begun for. */
  askForAll(): ReturnType<typeof startGit>
}

async function answerClone(store: Store, packs: PackCache, clone: Clone): Promise<Served> {
  const { subject, question } = clone
  const state = await readRefState(subject.folder)
  if (!state) return clone.askAlone()
  const key = { id: subject.id, digest: digestOf(store, subject, state, question.asked) }
  const file = await packs.find(key)
  if (file) return { file, stream: file.stream(), done: Promise.resolve(ENDED_WELL) }
  const spool =
    (await packs.join(key)) ?? (packs.isWorthKeeping(key) ? await write(packs, key, clone, state) : undefined)
  if (!spool) return clone.askAlone()
  return { stream: spool.read(clone.signal), done: spool.exited.then(report) }
}

async function write(packs: PackCache, key: PackKey, { subject, askForAll }: Clone, state: RefState) {
  const mayKeep = async (exit: Exit) => isWell(report(exit)) && (await isUnmoved(subject, state))
  const spool = await packs.write(key, askForAll, mayKeep)
  void spool.settled.then(() => afterwards(packs, subject)).catch(() => undefined) // The periodic task cleans as well.
  return spool
}

async function afterwards(packs: PackCache, { id, folder }: Subject): Promise<void> {
  // Deleted while the pack got its place: nothing of it stays.
  if (await isRepository(folder)) await packs.keepWithinLimits()
  else await packs.forget(id)
}
