import type { ServerChannel, Session } from 'ssh2'
import type { Context } from '../context.ts'
import { isProtocol } from './command.ts'
import { type Caller, serveCommand, welcome } from './serve.ts'

/** A channel on which something has been asked for. */
export interface Opened {
  session: Session
  channel: ServerChannel
  serve(context: Context, caller: Caller): Promise<void>
}

/** Lets a session ask for one command, or for a shell, which is answered with a greeting. The library refuses all else. */
export function openSession(session: Session, run: (opened: Opened) => void): void {
  let protocol: string | undefined
  // A request that wants no answer comes without the functions that answer, whatever the types say.
  session.on('env', (accept, reject, { key, val }) => {
    if (!isProtocol(key, val)) return reject?.()
    protocol = val
    accept?.()
  })
  const open = (accept: () => ServerChannel | undefined, serve: Opened['serve']) => {
    // Undefined once the session has asked for something else.
    const channel = accept()
    if (channel) run({ session, channel, serve })
  }
  session.once('exec', (accept, _, { command: text }) =>
    open(accept, (context, caller) => serveCommand(context, { ...caller, text, protocol })),
  )
  session.once('shell', (accept) => open(accept, welcome))
}
