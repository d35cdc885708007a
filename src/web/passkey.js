// Asks the browser for a passkey, and sends what it gives with the form. Where there is no script, or a browser that knows no passkeys, these
// forms stay hidden.
const knowsPasskeys = typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential

for (const form of knowsPasskeys ? document.querySelectorAll('form[data-passkey]') : []) {
  form.hidden = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const problem = form.querySelector('[data-problem]')
    problem.textContent = ''
    try {
      const credential = await ask(form.dataset.passkey, JSON.parse(form.dataset.options))
      form.elements.credential.value = JSON.stringify(credential.toJSON())
      form.submit()
    } catch (error) {
      problem.textContent = `The browser gave no passkey: ${error.message}`
    }
  })
}

function ask(kind, options) {
  if (kind === 'create')
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
}
