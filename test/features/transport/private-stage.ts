import { DELIMITER, encodePacket, FLUSH } from '../../../src/git/packet.ts'
import { startTestService, type TestUser } from '../../harness/service.ts'
import { commit, hostRepository, workTree } from './hosted.ts'

/** A private repository with these files on `main`: its service, who may read it, who may not, the clone it was pushed from. */
export async function openPrivateStage(files: Record<string, string | Uint8Array>) {
  const service = await startTestService()
  const owner = await service.createUser()
  const stranger = await service.createUser()
  const repo = await hostRepository(service, owner, { isPrivate: true })
  const cwd = await workTree(service.git)
  const head = await commit(service.git, cwd, files)
  await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })
  return { service, owner, stranger, repo, cwd, head }
}

/** The request of a clone, by version 2 of the protocol. */
export function cloneRequest(head: string, options: readonly string[], user?: TestUser) {
  const lines = [encodePacket('command=fetch'), DELIMITER, ...options.map(encodePacket)]
  const headers: Record<string, string> = {
    'content-type': 'application/x-git-upload-pack-request',
    'git-protocol': 'version=2',
    ...(user && { authorization: `Basic ${btoa(`${user.name}:${user.token}`)}` }),
  }
  return { headers, body: Buffer.concat([...lines, encodePacket(`want ${head}\n`), encodePacket('done\n'), FLUSH]) }
}
