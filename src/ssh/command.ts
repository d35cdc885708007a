import type { Operation } from '../features/lfs/token.ts'

/** A repository as a client names it. */
interface Named {
  owner: string
  /** With or without `.git`. */
  repo: string
}

/** What a client asks for: one of git's programs, on one repository. */
export interface GitCommand extends Named {
  service: Program
}

/** What git-lfs asks for: where it can send or get its objects over HTTP, and with which header. */
export interface LfsCommand extends Named {
  service: 'lfs-authenticate'
  operation: Operation
}

const OPERATIONS = ['download', 'upload'] as const
const PROGRAMS = ['upload-pack', 'receive-pack', 'upload-archive'] as const
type Program = (typeof PROGRAMS)[number]

/** `git-upload-pack '/owner/name.git'`, as git and other clients write it: the quotes, the first slash and `.git` may be missing. */
const COMMAND = /^git[- ](upload-pack|receive-pack|upload-archive) +(?:'([^']*)'|([^\s'"\\]+))$/

/** The names are looked up and nothing else, so what could be meant for a shell or a file system names no repository. */
const PATH = /^\/?([^/\p{Cc}]+)\/([^/\p{Cc}]+)\/?$/u

/** `git-lfs-authenticate owner/name.git upload`: the path is written as above, the operation is one of two words. */
const LFS_COMMAND = /^git-lfs-authenticate +(?:'([^']*)'|([^\s'"\\]+)) +(download|upload)$/

/** Undefined for any other program or another form: nothing but this is ever served. */
export function readCommand(text: string): GitCommand | LfsCommand | undefined {
  return readGitCommand(text) ?? readLfsCommand(text)
}

function readGitCommand(text: string): GitCommand | undefined {
  const [, program, quoted, plain] = COMMAND.exec(text) ?? []
  const service = PROGRAMS.find((name) => name === program)
  const named = readPath(quoted ?? plain)
  return service && named && { service, ...named }
}

function readLfsCommand(text: string): LfsCommand | undefined {
  const [, quoted, plain, word] = LFS_COMMAND.exec(text) ?? []
  const operation = OPERATIONS.find((name) => name === word)
  const named = readPath(quoted ?? plain)
  return operation && named && { service: 'lfs-authenticate', operation, ...named }
}

function readPath(text: string | undefined): Named | undefined {
  const [, owner, repo] = PATH.exec(text ?? '') ?? []
  return owner === undefined || repo === undefined ? undefined : { owner, repo }
}

/** The known forms of GIT_PROTOCOL: `version=2`, and what git puts beside it. */
const PROTOCOL = /^version=[0-2](:[a-z0-9=]{1,30})?$/

export const isProtocol = (name: string, value: string): boolean => name === 'GIT_PROTOCOL' && PROTOCOL.test(value)
