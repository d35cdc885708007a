/** What a client asks for: one of git's programs, on one repository. */
export interface GitCommand {
  service: Program
  owner: string
  /** With or without `.git`. */
  repo: string
}

const PROGRAMS = ['upload-pack', 'receive-pack', 'upload-archive'] as const
type Program = (typeof PROGRAMS)[number]

/** `git-upload-pack '/owner/name.git'`, as git and other clients write it: the quotes, the first slash and `.git` may be missing. */
const COMMAND = /^git[- ](upload-pack|receive-pack|upload-archive) +(?:'([^']*)'|([^\s'"\\]+))$/

/** The names are looked up and nothing else, so what could be meant for a shell or a file system names no repository. */
const PATH = /^\/?([^/\p{Cc}]+)\/([^/\p{Cc}]+)\/?$/u

/** Undefined for any other program or another form: nothing but this is ever served. */
export function readCommand(text: string): GitCommand | undefined {
  const [, program, quoted, plain] = COMMAND.exec(text) ?? []
  const service = PROGRAMS.find((name) => name === program)
  const [, owner, repo] = PATH.exec(quoted ?? plain ?? '') ?? []
  if (service === undefined || owner === undefined || repo === undefined) return undefined
  return { service, owner, repo }
}

/** The known forms of GIT_PROTOCOL: `version=2`, and what git puts beside it. */
const PROTOCOL = /^version=[0-2](:[a-z0-9=]{1,30})?$/

export const isProtocol = (name: string, value: string): boolean => name === 'GIT_PROTOCOL' && PROTOCOL.test(value)
