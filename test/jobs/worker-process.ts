// A process of its own with a worker, and a line on standard output for what it does. Arguments: the address of the
// database, `hang` or `work` for what its jobs do, and the schedule of its periodic task, or nothing.
import { createCron } from '../../src/jobs/cron.ts'
import { type CronTask, cronHandlers } from '../../src/jobs/cron-tasks.ts'
import { openQueue } from './queue.ts'

const [url = '', behaviour = 'work', schedule] = process.argv.slice(2)
const say = (line: string) => void process.stdout.write(`${line}\n`)

const tasks: CronTask[] = []
if (schedule !== undefined)
  tasks.push({
    name: 'beat',
    schedule,
    description: 'Say so',
    async run() {
      say('beat')
    },
  })

const { jobs, context } = openQueue(url, {
  liveness: { beatSeconds: 0.2, leaseSeconds: 1 },
  async react({ id, attempt }) {
    say(`${behaviour} ${id} ${attempt}`)
    if (behaviour === 'hang') await new Promise(() => undefined)
  },
  handlers: cronHandlers(tasks),
})
jobs.start()
const cron = createCron(context, tasks)
await cron.start()
say('ready')
// Its timers do not keep it alive: what does is that nobody has ended it.
setInterval(() => undefined, 1000)
