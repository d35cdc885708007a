// The program of a thread: people who sign in with passwords, each as soon as the one before has been answered.

export interface CrowdTask {
  url: string
  password: string
  /** How many sign in at once. */
  size: number
  /** They are the accounts signer1, signer2 and so on, from this one. */
  from: number
}

/** What the thread is told: whom to send, or with undefined that it shall stop, to which it answers how many have signed in. */
export type CrowdMessage = CrowdTask | undefined

let isOver = false

async function run({ url, password, size, from }: CrowdTask): Promise<number> {
  let next = from
  const worker = async () => {
    while (!isOver) {
      const headers = { authorization: `Basic ${btoa(`signer${next++}:${password}`)}` }
      const response = await fetch(`${url}/api/v1/user`, { headers })
      const text = await response.text()
      if (!response.ok) throw new Error(`sign-in: ${response.status} ${text}`)
    }
  }
  await Promise.all(Array.from({ length: size }, worker))
  return next - from
}

addEventListener('message', async ({ data }: MessageEvent<CrowdMessage>) => {
  isOver = data === undefined
  if (data !== undefined) postMessage(await run(data))
})
