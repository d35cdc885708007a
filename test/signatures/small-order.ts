/** Points of Ed25519 whose order divides 8, in hexadecimal: worked out from the curve, each in every spelling. */
export const smallOrderPoints: readonly string[] = findSmallOrder()

function findSmallOrder(): string[] {
  const prime = 2n ** 255n - 19n
  const power = (base: bigint, exponent: bigint): bigint => {
    let [result, square] = [1n, base % prime]
    for (let rest = exponent; rest > 0n; rest >>= 1n) {
      if (rest & 1n) result = (result * square) % prime
      square = (square * square) % prime
    }
    return result
  }
  const inverse = (value: bigint) => power(value, prime - 2n)
  const d = ((prime - 121665n) * inverse(121666n)) % prime
  // A point of order 8 doubles to one with y = 0: its coordinates have x^2 = -y^2, so d y^4 + 2 y^2 - 1 = 0.
  const root = squareRoot((1n + d) % prime, { prime, power })
  const squares = [root, prime - root].map((one) => (((one + prime - 1n) % prime) * inverse(d)) % prime)
  const eighths = squares.flatMap((square) => {
    const y = squareRoot(square, { prime, power })
    return (y * y) % prime === square ? [y, prime - y] : []
  })
  const values = [0n, 1n, prime - 1n, ...eighths].flatMap((y) => (y + prime < 2n ** 255n ? [y, y + prime] : [y]))
  return values.map((y) => Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex'))
}

interface Field {
  prime: bigint
  power(base: bigint, exponent: bigint): bigint
}

/** Right where the value is a square; the prime is 5 modulo 8. */
function squareRoot(value: bigint, { prime, power }: Field): bigint {
  const candidate = power(value, (prime + 3n) / 8n)
  if ((candidate * candidate) % prime === value) return candidate
  return (candidate * power(2n, (prime - 1n) / 4n)) % prime
}
