import type { Context } from '../../context.ts'
import type { RunPlace } from './statuses.ts'

interface Placed {
  run: RunPlace['run']
  repository: { name: string; ownerId: number }
  owner: { name: string }
}

export const placeOf = ({ baseUrl }: Context, { run, repository, owner }: Placed): RunPlace => ({
  run,
  ownerId: repository.ownerId,
  htmlUrl: `${baseUrl}/${owner.name}/${repository.name}`,
})
