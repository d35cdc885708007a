/** Queues that repositories share: what happens in one of them starts runs in its order. */
const QUEUES = 16

export const queueOf = ({ repositoryId }: { repositoryId: number | null }): string =>
  `actions:start:${(repositoryId ?? 0) % QUEUES}`
