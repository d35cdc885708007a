/** Why there is no answer. `refused`: the settings do not allow the address; all others may be better next time. */
export type OutboundProblem = 'refused' | 'lookup' | 'connect' | 'tls' | 'timeout' | 'broken' | 'redirect'

/** There was no usable answer. The message is for the person who owns the hook or mirror, and names no inner addresses. */
export class OutboundError extends Error {
  readonly problem: OutboundProblem

  constructor(problem: OutboundProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}
