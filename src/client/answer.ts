/** One way in which a call can be refused: its status, and what the service says about it. */
export type Refusal<Status extends number, Value> = Status extends unknown
  ? { readonly status: Status; readonly value: Value }
  : never

interface Answered {
  /** Also of a refusal: all statuses from 200 on. */
  readonly status: number
  readonly headers: Headers
  /** Its body is read already. */
  readonly response: Response
}

/**
 * What a call comes to. `error` is one of the refusals that the operation is described with, told apart by `error.status`. A proxy in
 * between may answer with others. Without any answer the call throws.
 */
export type Answer<Data, Refused> =
  | (Answered & { readonly data: Data; readonly error: null })
  | (Answered & { readonly data: null; readonly error: Refused })

/** What may be said with any call. */
export interface CallOptions {
  headers?: Record<string, string>
  /** Further options of `fetch`, such as a `signal`. */
  fetch?: Omit<RequestInit, 'body' | 'headers' | 'method'>
}

/** Thrown where there is nobody to give a refusal to, such as while a list is walked. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly status: number
  /** What the service said: with `message`, and a `code` for programs. */
  readonly value: unknown

  constructor(status: number, value: unknown) {
    const said = typeof value === 'object' && value !== null && 'message' in value ? value.message : value
    super(`${status}: ${said}`)
    this.status = status
    this.value = value
  }
}
