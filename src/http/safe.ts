import { changes } from './admission.ts'

const asking = new WeakSet<Request>()

/** Marks a request that changes nothing, whatever its method says: a fetch of Git comes by POST. */
export const onlyAsks = (request: Request): void => void asking.add(request)

/** Whether nothing can have been changed by it. */
export const isSafe = (request: Request): boolean => !changes(request.method) || asking.has(request)
