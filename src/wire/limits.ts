/** Largest file whose content is inside the JSON; of a larger one the answer only says where to load it. */
export const MAX_BLOB_BYTES = 10_485_760
/** Bytes of file content in one JSON answer. */
export const MAX_RESPONSE_BYTES = 104_857_600
/** Entries of a tree on one page. */
export const TREES_PER_PAGE = 1000
