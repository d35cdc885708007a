/** Where in a file something stands, counted from 1. */
export interface Position {
  line: number
  column: number
}

/** What is wrong with a workflow, for the people who wrote it. */
export interface WorkflowProblem extends Position {
  message: string
}

/** Thrown within this folder and turned into a WorkflowProblem at its doors. */
export class WorkflowError extends Error {
  readonly at: Position | undefined

  constructor(message: string, at?: Position) {
    super(message)
    this.name = 'WorkflowError'
    this.at = at
  }
}

const START: Position = { line: 1, column: 1 }

/** More of them help nobody. */
export const MAX_ERRORS = 20
const MAX_MESSAGE = 500

/** One sentence, cut where it is long: it may quote the file. */
export function describeProblem(message: string, at: Position | undefined): WorkflowProblem {
  const { line, column } = at ?? START
  return { message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}...` : message, line, column }
}

/** @throws what is no problem of the workflow */
export function problemOf(error: unknown, at?: Position): WorkflowProblem {
  if (!(error instanceof WorkflowError)) throw error
  return describeProblem(error.message, error.at ?? at)
}
