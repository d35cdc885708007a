import type { PagedPart, Part } from './batch.ts'
import { commentsPart } from './parts/comments.ts'
import { issuesPart } from './parts/issues.ts'
import { labelsPart } from './parts/labels.ts'
import { milestonesPart } from './parts/milestones.ts'
import { releasesPart } from './parts/releases.ts'

const parts: Readonly<Record<PagedPart, Part>> = {
  labels: labelsPart,
  milestones: milestonesPart,
  issues: issuesPart,
  comments: commentsPart,
  releases: releasesPart,
}

export const partOf = (name: PagedPart): Part => parts[name]
