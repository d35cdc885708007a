import { type Config, ConfigError } from '../config.ts'
import { errorCode } from '../kernel/thrown.ts'

/** What a failure to open the port says about the settings; undefined for one that says nothing. */
export function listenError({ host, port }: Pick<Config, 'host' | 'port'>, error: unknown): ConfigError | undefined {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return new ConfigError(`PORT=${port} is in use`, 'set PORT to another port; 0 takes a free one')
    case 'EACCES':
      return new ConfigError(
        `this user may not open PORT=${port}`,
        'set PORT to 1024 or above, and let a proxy pass the other port on',
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
    // Bun says so of a name that it cannot resolve.
    case 'ENOTSUP':
      return new ConfigError(
        `HOST=${host} is no address of this machine`,
        'set HOST to 127.0.0.1, to 0.0.0.0 or :: for all addresses, or to one that this machine has',
      )
    default:
      return undefined
  }
}
