import { highlight } from './highlight.ts'
import type { RenderTask } from './render.ts'

export type ThreadTask = ({ kind: 'text' } & RenderTask) | { kind: 'code'; code: string; language: string }
/** `html` is absent when the code's language is unknown; `error` when the task failed. */
export type ThreadAnswer = { kind: 'ready' } | { kind: 'done'; html?: string; error?: string }

/** The program of a rendering thread: one task at a time, each answered by one message. Does nothing in the main thread. */
export function answerTasks(render: (task: RenderTask) => Promise<string>): void {
  if (Bun.isMainThread) return
  const run = async (task: ThreadTask): Promise<string | undefined> =>
    task.kind === 'code' ? highlight(task.code, task.language) : await render(task)
  addEventListener('message', async (event: MessageEvent<ThreadTask>) => {
    try {
      answer({ kind: 'done', html: await run(event.data) })
    } catch (error) {
      answer({ kind: 'done', error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
    if (isLarge(event.data)) Bun.gc(true)
  })
  answer({ kind: 'ready' })
}

/** The rubbish of a large text is given back at once: left to itself the heap of a thread stays at its highest mark. */
function isLarge(task: ThreadTask): boolean {
  return (task.kind === 'code' ? task.code : task.source).length > 64 * 1024
}

function answer(message: ThreadAnswer): void {
  postMessage(message)
}
