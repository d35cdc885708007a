import { serveTasks } from '../../src/threads/worker.ts'

/** A number is doubled; `loop`, `throw` and `exit` are what can go wrong. */
serveTasks<number | string, number>((task) => {
  if (typeof task === 'number') return task * 2
  if (task === 'throw') throw new Error('thrown by the task')
  if (task === 'exit') process.exit(3)
  for (;;);
})
