// Runs in the browser, beside Swagger UI. Addresses are relative to the page, so that a path before the service works.

const KEPT = 'hearth-reference-credentials'

/** Credentials outlive a reload, and end with the tab. */
const keepCredentials = {
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize) => (given) => {
          sessionStorage.setItem(KEPT, JSON.stringify({ ...kept(), ...given }))
          return authorize(given)
        },
        logout: (logout) => (names) => {
          const left = Object.entries(kept()).filter(([name]) => !names.includes(name))
          sessionStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(left)))
          return logout(names)
        },
      },
    },
  },
}

const kept = () => JSON.parse(sessionStorage.getItem(KEPT) ?? '{}')

/** Finds the words of a group, a path, a summary or an operationId, and opens the groups in which it found something. */
const findEverywhere = {
  fn: {
    opsFilter(groups, phrase) {
      const wanted = phrase.toLowerCase()
      const isWanted = (text) => String(text).toLowerCase().includes(wanted)
      const isFound = (one) =>
        isWanted(one.get('path')) ||
        isWanted(one.getIn(['operation', 'summary'])) ||
        isWanted(one.getIn(['operation', 'operationId']))
      return groups
        .map((group, name) => (isWanted(name) ? group : group.update('operations', (all) => all.filter(isFound))))
        .filter((group) => group.get('operations').size > 0)
    },
  },
  statePlugins: {
    layout: {
      wrapSelectors: {
        isShown:
          (isShown, { layoutSelectors }) =>
          (_state, thing, otherwise) => {
            const filter = layoutSelectors.currentFilter()
            const isFiltered = typeof filter === 'string' && filter !== ''
            return isShown(thing, otherwise || (isFiltered && thing[0] === 'operations-tag'))
          },
      },
    },
  },
}

const reference = window.SwaggerUIBundle({
  url: '../swagger.v1.json',
  domNode: document.getElementById('reference'),
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  tryItOutEnabled: true,
  // The badge would ask a public server about our document.
  validatorUrl: null,
  plugins: [keepCredentials, findEverywhere],
  /** A token alone is one, too. */
  requestInterceptor(request) {
    const { Authorization: given } = request.headers
    if (given && !/^(token|bearer|basic) /i.test(given)) request.headers.Authorization = `token ${given}`
    return request
  },
  onComplete: () => reference.authActions.authorize(kept()),
})
