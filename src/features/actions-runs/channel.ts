/** Notified when jobs were queued: runners that wait look for work. */
export const QUEUED_CHANNEL = 'hearth_actions_queued'

/** Each is listened to for good once somebody has followed a log, so there are few. */
const LOG_CHANNELS = 32

/** Notified when a log has grown or its task has ended. Other tasks share it: who follows looks, and may find nothing. */
export const logChannelOf = (taskId: number): string => `hearth_actions_log_${taskId % LOG_CHANNELS}`
