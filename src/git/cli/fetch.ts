import type { Call, Served, ServeRequest } from '../model.ts'
import { answerAssembled, answerKept } from './clones.ts'
import { startDeadline } from './deadline.ts'
import { readFetchRequest } from './fetch-request.ts'
import { answerRefs } from './listing.ts'
import type { Child } from './process.ts'
import { isSecondVersion, protocolVariables, served } from './services.ts'
import { requireFolder, type Store } from './store.ts'
import { askUploadPack } from './upload-pack.ts'
import { inWidePackets } from './wide-packets.ts'

/**
 * One stateless request to upload-pack. What refs there are is told from memory as long as none moves. A clone is sent from the disk
 * where that is the answer, and a pack that several clients ask for is made once. Who may read the repository has been judged before,
 * for each request.
 */
export async function serveFetch(store: Store, id: number, request: ServeRequest): Promise<Served> {
  const folder = await requireFolder(store.runner.root, id)
  const environment = protocolVariables(request.protocol)
  const isSecond = isSecondVersion(environment)
  const { question, body } = await readBody(store, request, isSecond)
  const subject = { id, folder, protocol: environment.GIT_PROTOCOL }
  const ask = (call: Call) => askUploadPack(store, subject, body, call)
  const askAlone = async () => served(await ask(request))
  if (question?.kind === 'refs') {
    store.habits.noteListing(id, { question, protocol: subject.protocol })
    return answerRefs(store, subject, question.asked, askAlone)
  }
  const assembled = question?.plain && (await answerAssembled(store, subject, question.plain, request.signal))
  if (assembled) {
    store.habits.noteClone(id)
    return assembled
  }
  if (question?.kind !== 'clone' || !store.packs) return askAlone()
  return answerKept(store, store.packs, {
    subject,
    question,
    signal: request.signal,
    askAlone,
    // Whoever reads it afterwards gains more than it costs now.
    askForAll: isSecond ? async () => withWidePackets(await ask({})) : () => ask({}),
  })
}

const withWidePackets = (child: Child): Child => ({ ...child, stdout: inWidePackets(child.stdout) })

async function readBody(store: Store, request: ServeRequest, isSecond: boolean) {
  const deadline = startDeadline(request, store.runner.timeouts.transferMs)
  return readFetchRequest(request.body, { isSecond, deadline }).finally(() => deadline.clear())
}
