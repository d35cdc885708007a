import { networkOf } from '../kernel/network.ts'

/** Where a request came from: for throttling, and for the audit trail. */
export interface RequestOrigin {
  /** Undefined without a connection. */
  readonly address: string | undefined
  /** Method and path, without the query: that may hold a token. */
  readonly route: string
  readonly requestId: string
  /** What the browser says of itself. */
  readonly userAgent?: string | undefined
}

/** The network that a request came from, for counting: all without an address count as one. */
export const networkOfOrigin = ({ address }: RequestOrigin): string =>
  address === undefined ? 'unknown' : networkOf(address)
