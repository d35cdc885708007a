/** Wire: clients parse the leading numbers and gate features on them; what follows the plus is ours. */
export const version = '1.26.0+hearth-0.1.0'
