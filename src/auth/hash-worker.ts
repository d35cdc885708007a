// The program of a hashing thread: one password at a time, each answered by one message.
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { hashSync, verifySync } from '@node-rs/argon2'
import { messageOf } from '../kernel/thrown.ts'

export type HashTask = { password: string; options: HashOptions } | { password: string; hash: string }
export type HashAnswer = { value: string | boolean } | { error: string }

export interface HashOptions {
  algorithm: number
  memoryCost: number
  timeCost: number
  parallelism: number
}

/** Requests that need no hash go first. */
const NICENESS = 15

const run = (task: HashTask): string | boolean =>
  'hash' in task ? verifySync(task.hash, task.password) : hashSync(task.password, task.options)

function answer(message: HashAnswer): void {
  postMessage(message)
}

/** On Linux each thread has its own priority. Elsewhere it belongs to the process, so it stays unchanged. */
function stepBack(): void {
  if (process.platform !== 'linux') return
  const [thread = ''] = /\d+$/.exec(readlinkSync('/proc/thread-self')) ?? []
  // Up, for a program that was started with `nice -n 19`, only root may go.
  if (getPriority(Number(thread)) < NICENESS) setPriority(Number(thread), NICENESS)
}

/** Only in a thread: this file's types are also imported by the main one. */
if (!Bun.isMainThread) {
  stepBack()
  addEventListener('message', ({ data }: MessageEvent<HashTask>) => {
    try {
      answer({ value: run(data) })
    } catch (error) {
      answer({ error: messageOf(error) })
    }
  })
}
