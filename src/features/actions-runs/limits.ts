/** As the table of statuses has it. */
export const MAX_STATUS_CONTEXT = 255
export const MAX_TITLE = 255
