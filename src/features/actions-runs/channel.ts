/** Notified when jobs were queued: runners that wait look for work. */
export const QUEUED_CHANNEL = 'hearth_actions_queued'
