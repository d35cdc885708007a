import { isObject, type JsonObject, listOf, objectOf } from '../http/openapi/json.ts'
import { declareOperation } from './operations.ts'
import { key, typeOf } from './types.ts'

/** One step of the paths: what can be asked there, and the steps behind it. */
interface Step {
  readonly methods: string[]
  readonly names: Map<string, Step>
  /** By the type of its parameters: `owner: string | number`. */
  readonly parameters: Map<string, Step>
}

const newStep = (): Step => ({ methods: [], names: new Map(), parameters: new Map() })

/** The type of `client.api.v1`: the paths of the API as properties, their parameters as calls. */
export function declarePaths(paths: JsonObject, responses: JsonObject): string {
  const root = newStep()
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, value] of Object.entries(objectOf(item))) {
      const operation = objectOf(value)
      const steps = path.split('/').filter((part) => part !== '')
      const last = steps.reduce((step, part) => stepBehind(step, part, operation), root)
      last.methods.push(declareOperation({ method, path, operation, responses }))
    }
  }
  return declareStep(root)
}

function stepBehind(step: Step, part: string, operation: JsonObject): Step {
  const names = [...part.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? [])
  const parameters = names.map((name) => `${key(name)}: ${parameterType(name, operation)}`).join('; ')
  const [known, label] = names.length === 0 ? [step.names, part] : [step.parameters, parameters]
  const found = known.get(label) ?? newStep()
  known.set(label, found)
  return found
}

/** Numbers and texts alike stand in an address; only where there is a choice of words are others refused. */
function parameterType(name: string, { parameters }: JsonObject): string {
  const parameter = listOf(parameters)
    .filter(isObject)
    .find((one) => one.in === 'path' && one.name === name)
  const schema = objectOf(parameter?.schema)
  return schema.enum === undefined ? 'string | number' : typeOf(schema)
}

function declareStep({ methods, names, parameters }: Step): string {
  const members = [...methods, ...[...names].map(([name, step]) => `${key(name)}: ${declareStep(step)}\n`)]
  const calls = [...parameters].map(([words, step]) => `((parameters: { ${words} }) => ${declareStep(step)})`)
  return [...(members.length > 0 ? [`{\n${members.join('')}}`] : []), ...calls].join(' & ')
}
