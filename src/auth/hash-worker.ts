// The program of a hashing thread: one password at a time, each answered by one message.
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { hashSync, verifySync } from '@node-rs/argon2'
import { serveTasks } from '../threads/worker.ts'

export type HashTask = { password: string; options: HashOptions } | { password: string; hash: string }

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

/** On Linux each thread has its own priority. Elsewhere it belongs to the process, so it stays unchanged. */
function stepBack(): void {
  if (process.platform !== 'linux') return
  const [thread = ''] = /\d+$/.exec(readlinkSync('/proc/thread-self')) ?? []
  // Up, for a program that was started with `nice -n 19`, only root may go.
  if (getPriority(Number(thread)) < NICENESS) setPriority(Number(thread), NICENESS)
}

/** The main thread imports the types of this file. */
if (!Bun.isMainThread) stepBack()
serveTasks(run)
