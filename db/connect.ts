import postgres from 'postgres'

const DEFAULT_PORT = 5432

/**
 * Opens a pool to an address. As with libpq, its key `host` may name the folder of a server's socket
 * (`postgres://user:password@localhost:5432/name?host=/var/run/postgresql`), which postgres.js alone does not read.
 */
export function connect<Types extends Record<string, postgres.PostgresType>>(
  url: string,
  options: postgres.Options<Types>,
) {
  const [, folder] = /[?&]host=(\/[^&]*|%2F[^&]*)/i.exec(url) ?? []
  if (folder === undefined) return postgres(url, options)
  const address = new URL(url)
  address.searchParams.delete('host')
  const path = `${decodeURIComponent(folder)}/.s.PGSQL.${address.port || DEFAULT_PORT}`
  return postgres(address.href, { ...options, path })
}
