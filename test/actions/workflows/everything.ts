/** A workflow in which every key of the syntax that Hearth knows stands once. */
export const EVERYTHING = `
name: Build
run-name: Build of \${{ github.ref_name }} by \${{ gitea.actor }}
on:
  push:
    branches: [main, 'releases/**']
    paths-ignore: ['docs/**']
  schedule:
    - cron: '30 5 * * 1-5'
      timezone: Europe/Berlin
  workflow_dispatch:
    inputs:
      level: { description: How loud, type: choice, options: [info, debug], default: info }
      dry: { type: boolean, required: true }
  workflow_call:
    inputs:
      target: { type: string, required: true }
      count: { type: number, default: 3 }
    secrets:
      token: { required: true }
      other:
    outputs:
      version: { value: '\${{ jobs.build.outputs.version }}' }
permissions: { contents: read, wiki: write }
env: { CI: true, LEVEL: 3 }
defaults: { run: { shell: bash } }
concurrency: { group: 'ci-\${{ github.ref }}', cancel-in-progress: true }
jobs:
  build:
    name: Build \${{ matrix.os }}
    runs-on: \${{ matrix.os }}
    strategy: { fail-fast: false, max-parallel: 2, matrix: { os: [linux, windows] } }
    timeout-minutes: 10
    continue-on-error: \${{ matrix.os == 'windows' }}
    permissions: read-all
    environment: { name: production, url: 'https://example.com' }
    outputs: { version: '\${{ steps.v.outputs.version }}' }
    env: { TOKEN: '\${{ secrets.TOKEN }}' }
    steps:
      - uses: actions/checkout@v4
        with: { fetch-depth: 0 }
      - { id: v, name: Find the version, run: echo version=1 >> $GITHUB_OUTPUT }
      - run: |
          make
          make test
  report:
    needs: build
    if: github.event_name == 'push'
    runs-on: { group: large, labels: [self-hosted, linux] }
    concurrency: report
    steps: [{ run: 'true' }]
  publish:
    needs: [build, report]
    if: always()
    uses: ./.gitea/workflows/publish.yml
    with: { target: site }
    secrets: { key: '\${{ secrets.DEPLOY_KEY }}' }
`
