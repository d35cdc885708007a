// Runs in the browser, beside Swagger UI. Addresses are relative to the page, so that a path before the service works.
window.SwaggerUIBundle({
  url: '../swagger.v1.json',
  domNode: document.getElementById('reference'),
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  tryItOutEnabled: true,
  // The badge would ask a public server about our document.
  validatorUrl: null,
})
