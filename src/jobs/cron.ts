import { cron } from '@elysiajs/cron'
import { type AnyElysia, Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { type CronTask, claimTick, lastTicks, registerCronTasks } from './cron-tasks.ts'
import { parseSchedule, type Schedule } from './schedule.ts'

export interface CronClock {
  /** To be used by the application: its timers stop with it. */
  plugin: AnyElysia
  /** Writes the tasks of this version to `cron_tasks`, where they can be listed and run by hand. */
  register(): Promise<void>
  /** Registers, makes up for ticks that no replica was there for (one run a task, however many), and starts the timers. */
  start(): Promise<void>
  stop(): void
}

interface Timer {
  task: CronTask
  schedule: Schedule
  /** The due time that the next tick is for. */
  expected: Date
}

/** Not a task: a timer that looks at all of them, for ticks that failed or whose own timer slept over them. */
const OVERDUE = 'overdue'

/** A timer may fire this much too early: it is set in milliseconds and due times are whole seconds. */
const EARLY_MS = 500

type CronContext = Pick<Context, 'db' | 'clock' | 'log'>

/** The periodic tasks of this replica. Each replica has all timers; `claimTick` makes each tick happen once. */
export function createCron(context: CronContext, tasks: readonly CronTask[]): CronClock {
  const now = context.clock.now()
  const timers = tasks.map((task): Timer => {
    const schedule = parseSchedule(task.schedule)
    return { task, schedule, expected: schedule.next(now) }
  })
  const look = (timer: Timer) => void tick(context, timer)
  const all: TickTimer = { name: OVERDUE, pattern: '30 * * * * *', run: () => timers.forEach(look) }
  const single = timers.map((timer): TickTimer => {
    return { name: timer.task.name, pattern: timer.schedule.pattern, run: () => look(timer) }
  })
  const { plugin, crons } = timersOf([...single, all])
  const stop = () => {
    for (const timer of crons()) timer.stop()
  }
  plugin.onStop(stop)
  return {
    plugin,
    register: () => registerCronTasks(context, tasks),
    async start() {
      await registerCronTasks(context, tasks)
      const last = await lastTicks(context)
      for (const timer of timers) {
        const before = last.get(timer.task.name)
        if (before !== undefined) timer.expected = timer.schedule.next(before)
        await tick(context, timer)
      }
      for (const timer of crons()) timer.resume()
    },
    stop,
  }
}

/** Takes the tick if one is due. What fails here stays due, and is tried again within a minute. */
async function tick(context: CronContext, timer: Timer): Promise<void> {
  const { task, schedule } = timer
  const now = context.clock.now()
  const next = schedule.next(now)
  // A clock that was set back would else wait for the time it had come from.
  if (timer.expected > next) timer.expected = next
  if (timer.expected.getTime() > now.getTime() + EARLY_MS) return
  // The last one, of however many were missed: replicas that start one after the other then agree on it.
  const due = schedule.latest(new Date(now.getTime() + EARLY_MS))
  timer.expected = schedule.next(due)
  try {
    await claimTick(context, task.name, due)
  } catch (err) {
    timer.expected = due
    context.log.warn({ err, task: task.name, due }, 'a tick of a periodic task is late')
  }
}

interface TickTimer {
  name: string
  pattern: string
  run(): void
}

interface Stoppable {
  stop(): void
  resume(): boolean
}

function timersOf(timers: readonly TickTimer[]): { plugin: AnyElysia; crons: () => Stoppable[] } {
  let plugin: AnyElysia = new Elysia({ name: 'cron' })
  // `unref`: a process that has nothing else to do may end.
  for (const timer of timers) plugin = plugin.use(cron({ ...timer, timezone: 'UTC', paused: true, unref: true }))
  return { plugin, crons: () => Object.values(plugin.store.cron ?? {}) }
}
