import type { MessageInitShape } from '@bufbuild/protobuf'
import { mapRecord } from '../../actions/workflows/json.ts'
import type { ClaimedJob } from '../actions-runs/claim.ts'
import type { TaskSchema } from './messages/runner_pb.js'
import { resultOf } from './results.ts'

/** A job as its runner gets it. */
export const taskMessage = (claimed: ClaimedJob): MessageInitShape<typeof TaskSchema> => ({
  id: BigInt(claimed.taskId),
  workflowPayload: new TextEncoder().encode(claimed.payload),
  context: contextOf(claimed),
  secrets: claimed.secrets,
  vars: claimed.run.vars,
  needs: mapRecord(claimed.plan.needs, ({ result, outputs }) => ({ result: resultOf(result), outputs })),
})

/** Wire: runners take the inputs of a called workflow from the event, and look there only for events of this name. */
function contextOf({ run, plan, token, runtimeToken }: ClaimedJob) {
  const inputs = plan.callInputs
  return {
    ...run.github,
    ...(inputs === null ? {} : { event_name: 'workflow_call', event: { inputs } }),
    job: plan.id,
    run_attempt: String(run.attempt),
    token,
    gitea_runtime_token: runtimeToken,
  }
}
