import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser'
import type { WorkflowTemplate } from '@actions/workflow-parser/model/workflow-template'
import { TemplateContext, TemplateValidationErrors } from '@actions/workflow-parser/templates/template-context'
import { isRecord, type JsonRecord, optionalText, recordOf } from './json.ts'
import { MAX_WORKFLOW_BYTES } from './limits.ts'
import type { Workflow } from './model.ts'
import { describeProblem, MAX_ERRORS, problemOf, type WorkflowProblem } from './problems.ts'
import { readConcurrency, readJob } from './read-job.ts'
import { readPermissions } from './read-permissions.ts'
import { readTriggers } from './read-triggers.ts'
import { workflowSchema } from './schema.ts'
import { readYaml, type YamlFile } from './yaml.ts'

export type ReadWorkflow =
  | { workflow: Workflow; errors?: undefined }
  | { workflow?: undefined; errors: WorkflowProblem[] }

const failed = (message: string): ReadWorkflow => ({ errors: [describeProblem(message, undefined)] })

/**
 * Reads a workflow file by the rules that GitHub documents. Runs in a thread of `workflows.ts`: a hostile file can take seconds.
 * @param path from the root of the repository
 */
export async function readWorkflow(text: string, { path }: { path: string }): Promise<ReadWorkflow> {
  if (Buffer.byteLength(text) > MAX_WORKFLOW_BYTES)
    return failed(`The file is longer than ${MAX_WORKFLOW_BYTES} bytes.`)
  const yaml = readYaml(text)
  if (!yaml.file) return { errors: yaml.errors }
  if (!isRecord(yaml.file.value))
    return failed('The file holds no workflow: it has to be a mapping with `on` and `jobs`.')
  const { template, errors } = await check(text, path)
  if (errors.length > 0) return { errors }
  try {
    return { workflow: build(yaml.file, yaml.file.value, { path, template }) }
  } catch (error) {
    return { errors: [problemOf(error)] }
  }
}

/** Holds the file against the schema, and parses every expression in it. */
async function check(
  text: string,
  path: string,
): Promise<{ template: WorkflowTemplate | undefined; errors: WorkflowProblem[] }> {
  const found = new TemplateValidationErrors(MAX_ERRORS)
  const context = new TemplateContext(found, workflowSchema(), new NoOperationTraceWriter())
  const { value } = parseWorkflow({ name: path, content: text }, context)
  const template = value && (await convertWorkflowTemplate(context, value))
  const errors = found.getErrors().map(({ rawMessage, range }) => describeProblem(sentence(rawMessage), range?.start))
  return { template, errors }
}

/** The library's messages are known from GitHub, so they stay as they are. */
const sentence = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`)

/** From a file that the schema has accepted. */
function build(
  file: YamlFile,
  root: JsonRecord,
  { path, template }: { path: string; template: WorkflowTemplate | undefined },
): Workflow {
  const conditions = new Map(template?.jobs.map((job) => [job.id.value, job.if.expression]))
  const { jobs, concurrency: _, 'run-name': runName, ...source } = root
  return {
    path,
    name: optionalText(root.name) || path,
    runName: optionalText(runName),
    on: readTriggers(root.on, (at) => file.find(['on', ...at])),
    permissions: readPermissions(root.permissions),
    concurrency: readConcurrency(root.concurrency),
    jobs: Object.entries(recordOf(jobs)).map(([id, job]) =>
      readJob(recordOf(job), {
        id,
        condition: conditions.get(id) ?? 'success()',
        find: (at) => file.find(['jobs', id, ...at]),
      }),
    ),
    source,
  }
}
