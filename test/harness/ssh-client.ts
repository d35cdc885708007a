// `bun ssh-client.ts [-i KEY] [-p PORT] [-o OPTION] [-T] USER@HOST [COMMAND ...]`: as much of ssh as git asks for, for machines that
// have none. Started by git through GIT_SSH_COMMAND.
import { readFileSync } from 'node:fs'
import { Client, type ClientChannel } from 'ssh2'

const words = process.argv.slice(2)
const options = new Map<string, string>()
while (words[0]?.startsWith('-')) {
  const option = words.shift() ?? ''
  options.set(option, /^-[ipo]$/.test(option) ? (words.shift() ?? '') : '')
}
const [target = '', ...rest] = words
const [username = '', host = ''] = target.split('@')

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(255)
}

function connect(error: Error | undefined, channel: ClientChannel): void {
  if (error) fail(error.message)
  let exitCode = 255
  channel.on('exit', (code: number | null) => {
    exitCode = code ?? 255
  })
  channel.on('close', () => {
    client.end()
    process.exitCode = exitCode
    process.stdin.destroy()
  })
  process.stdin.pipe(channel)
  channel.pipe(process.stdout)
  channel.stderr.pipe(process.stderr)
}

const client = new Client()
client.on('error', (error) => fail(error.level === 'client-authentication' ? 'Permission denied' : error.message))
client.on('ready', () => {
  const { GIT_PROTOCOL } = process.env
  if (rest.length === 0) client.shell(false, connect)
  else client.exec(rest.join(' '), { env: GIT_PROTOCOL === undefined ? {} : { GIT_PROTOCOL } }, connect)
})
const privateKey = readFileSync(options.get('-i') ?? '')
client.connect({ host, port: Number(options.get('-p') ?? 22), username, privateKey })
