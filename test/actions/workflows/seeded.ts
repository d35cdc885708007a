/** Numbers below a bound that look random and are the same each time. */
export function seeded(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor(state / 65_536) % bound
  }
}
