import { type Config, ConfigError } from '../config.ts'
import { messageOf } from '../kernel/thrown.ts'
import type { Log } from '../log.ts'
import { createDiskStore } from './disk.ts'
import { createS3Store } from './s3.ts'
import { type ObjectStore, ObjectStoreError } from './store.ts'

/** The store that the settings name. Nothing is asked of it yet. */
export function openObjectStore(config: Config, log: Pick<Log, 'error'>): ObjectStore {
  if (config.objectStorage === 'disk') return createDiskStore(config.objectsDir)
  const { s3Endpoint, s3Region, s3Bucket, s3AccessKeyId, s3SecretAccessKey, s3Prefix } = config
  if (s3Bucket === undefined || s3AccessKeyId === undefined || s3SecretAccessKey === undefined)
    throw new ConfigError('OBJECT_STORAGE=s3 needs S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
  const settings = {
    endpoint: s3Endpoint,
    region: s3Region,
    bucket: s3Bucket,
    accessKeyId: s3AccessKeyId,
    secretAccessKey: s3SecretAccessKey,
    prefix: s3Prefix === '' ? '' : `${s3Prefix}/`,
  }
  return createS3Store(settings, log)
}

/** What to do about a store that fails its check. */
export const storeRemedy = ({ objectStorage, objectsDir }: Config): string =>
  objectStorage === 'disk'
    ? `make ${objectsDir} writable for this user (number ${process.getuid?.()}), or set OBJECTS_DIR to a folder that is`
    : 'correct S3_ENDPOINT, S3_REGION, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY; the key needs to get, put, delete and list'

/**
 * For the start: whether files can be stored. A store that is away for the moment only warns, since everything else works without.
 * @throws ConfigError where a setting is wrong
 */
export async function checkAtStart(store: ObjectStore, config: Config, log: Log): Promise<void> {
  try {
    await store.check()
  } catch (error) {
    if (error instanceof ObjectStoreError && !error.isSetting)
      return log.warn(
        { err: error },
        'the object storage does not answer; files cannot be stored or read until it does',
      )
    throw new ConfigError(`files cannot be stored: ${messageOf(error)}`, storeRemedy(config))
  }
}
