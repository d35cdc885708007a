/** Notified when a job was written that may be due. */
export const JOBS_CHANNEL = 'hearth_jobs'
