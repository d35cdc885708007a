import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import type { Viewer } from '../wire/viewer.ts'

/** The reader of an answer. A token that sees public things only reads like a visitor: no address of anybody is among these. */
export function viewerOf({ baseUrl, sshRoot, config }: Context, actor: Actor | undefined): Viewer {
  return {
    baseUrl,
    sshRoot,
    noreplyDomain: config.noreplyDomain,
    userId: actor?.publicOnly ? undefined : actor?.user.id,
    isAdmin: actor?.publicOnly === false && actor.user.isAdmin,
  }
}
