import { inheritConnection } from './connection.ts'

/**
 * RFC 9112, 3.2: what is no host and port is refused. The address that routes see begins with it, so `x/api?` would move the path.
 * Absent in HTTP/1.0.
 */
export const isHost = (host: string | null | undefined): boolean =>
  !host || /^(?:[a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host)

/** HTTP/1.0 knows requests without Host, as some probes of load balancers send them; their address is the path alone. */
export function withHost(request: Request): Request {
  if (!request.url.startsWith('/')) return request
  const whole = new Request(`http://localhost${request.url}`, request)
  inheritConnection(request, whole)
  return whole
}
