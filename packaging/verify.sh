#!/bin/sh
# verify.sh [SIGNERS]: checks the files of a release in the directory of this script against SHA256SUMS, and SHA256SUMS against
# its signature. SIGNERS is a file of allowed signers (ssh-keygen(1)) with the key of the person who signed the release,
# from a source that you trust. A person signs with: ssh-keygen -Y sign -f KEY -n runar SHA256SUMS
set -eu
cd "$(dirname "$0")"

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

[ -f SHA256SUMS ] || fail "there is no SHA256SUMS beside this script: copy it from the release"
sha256sum --check --strict --quiet --ignore-missing SHA256SUMS || fail "a file differs from SHA256SUMS: fetch it again"
listed=$(sha256sum --check --strict --ignore-missing SHA256SUMS 2>/dev/null | grep -c ': OK$') || true
[ "$listed" -gt 0 ] || fail "none of the files of SHA256SUMS is here: copy them beside this script"
echo "$listed files are as SHA256SUMS says"
if [ ! -f SHA256SUMS.sig ]; then
    echo "note: SHA256SUMS has no signature, so the sums protect against damage only"
    exit 0
fi
[ -n "${1:-}" ] || fail "SHA256SUMS is signed: name the file of allowed signers, as in ./verify.sh signers"
signer=$(ssh-keygen -Y find-principals -s SHA256SUMS.sig -f "$1" 2>/dev/null | head -n 1)
[ -n "$signer" ] || fail "no key in $1 made this signature: do not use these files"
ssh-keygen -Y verify -f "$1" -I "$signer" -n runar -s SHA256SUMS.sig <SHA256SUMS >/dev/null ||
    fail "the signature is wrong: do not use these files"
echo "signed by $signer"
