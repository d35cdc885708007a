import { eq } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { jobs } from '../../db/schema/jobs.ts'
import type { JobName } from './catalogue.ts'

/** How many jobs of a name there are, in whichever state. */
export const countJobs = (db: Db, name: JobName): Promise<number> => db.$count(jobs, eq(jobs.name, name))

/** Drops all jobs of a name that can never end, whatever their state: no worker may run meanwhile. */
export async function dropJobs(tx: Db, name: JobName): Promise<void> {
  await tx.delete(jobs).where(eq(jobs.name, name))
}
