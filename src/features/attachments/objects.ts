/** Folder of the object store that attachments lie in, and nothing else. */
export const FOLDER = 'attachments'

/** Where the bytes of an attachment lie. The trigger `attachments_deleted` knows it too. */
export const keyOf = (uuid: string): string => `${FOLDER}/${uuid.slice(0, 2)}/${uuid}`

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const IS_UUID = new RegExp(`^${UUID}$`)
const KEY = new RegExp(`^${FOLDER}/[0-9a-f]{2}/(${UUID})$`)

export const isUuid = (text: string): boolean => IS_UUID.test(text)

/** Undefined for a key that is no attachment's. */
export const uuidOf = (key: string): string | undefined => KEY.exec(key)?.[1]
