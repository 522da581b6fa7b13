# The image of a sandbox's container: the sandbox host of src/host, with git and bubblewrap. wrangler.toml names it.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /countersign
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git python3 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/countersign
COPY package.json ./
# Of the packages only what the host imports.
COPY --from=packages /countersign/node_modules/@lydell node_modules/@lydell
COPY --from=packages /countersign/node_modules/ws node_modules/ws
COPY --from=packages /countersign/node_modules/zod node_modules/zod
COPY src/limits.ts src/limits-github.ts src/limits-minds.ts src/
COPY src/domain src/domain
COPY src/host src/host
CMD ["/bin/sh", "/opt/countersign/src/host/container.sh"]
