#!/bin/sh
# What a sandbox's container starts. The authority that signs for https at its outbound handler is new in each container,
# so it is trusted here and not in the image.
set -eu
made=/etc/cloudflare/certs/cloudflare-containers-ca.crt
all=/etc/ssl/certs/ca-certificates.crt
if [ -f "$made" ]; then
  cp "$made" /usr/local/share/ca-certificates/countersign-outbound.crt
  update-ca-certificates > /dev/null 2>&1
fi
export NODE_EXTRA_CA_CERTS="$all" SSL_CERT_FILE="$all" CURL_CA_BUNDLE="$all" PIP_CERT="$all" REQUESTS_CA_BUNDLE="$all"
export SANDBOX_ROOT="${SANDBOX_ROOT:-/var/lib/countersign}"
mkdir -p "$SANDBOX_ROOT"
main="$(dirname "$0")/main.ts"
# Where root may not make name spaces for mounts, an ordinary user may still make some of its own.
if unshare --mount --propagation private true 2> /dev/null; then
  exec node --disable-warning=ExperimentalWarning "$main"
fi
chown 1000:1000 "$SANDBOX_ROOT"
exec setpriv --reuid 1000 --regid 1000 --clear-groups -- node --disable-warning=ExperimentalWarning "$main"
