#!/usr/bin/env bash
# run.sh [ARGUMENTS OF bench.py]: builds everything that is measured, measures, prints one table.
set -eu
cd "$(dirname "$0")/.."

./scripts/install-dependencies.sh bench
./scripts/stage.sh "build runar-bench (release)" swift build --configuration release --product runar-bench
./scripts/stage.sh "build runar (release)" swift build --configuration release --product runar
./scripts/stage.sh "build RunarC (release)" swift build --configuration release --product RunarC

here=Benchmarks
tools=$here/.build
mkdir -p "$tools"
cc -O2 -Wall -o "$tools/ceilings" $here/drivers/ceilings.c
[ "$(uname)" != Linux ] || cc -O2 -Wall -o "$tools/tunnel_load" $here/drivers/tunnel_load.c -lpthread

# iroh is the peer to compare with. Where its wheel does not exist, its column stays empty.
wheel="iroh==1.2.0"
if [ ! -x $here/.venv/bin/python ] || [ "$(cat $here/.venv/wheel 2>/dev/null)" != "$wheel" ]; then
    echo "   making $here/.venv with $wheel"
    python3 -m venv $here/.venv
    if $here/.venv/bin/pip install --quiet --disable-pip-version-check "$wheel"; then
        echo "$wheel" >$here/.venv/wheel
    else
        echo "   $wheel is not to be had for this system; measuring without it"
    fi
fi
# A broker, with TLS and clients without an interpreter, to compare requests with.
if pkg-config --exists libnats; then
    # shellcheck disable=SC2046  # several flags are several words
    cc -O2 -Wall -o "$tools/nats_driver" $here/drivers/nats_driver.c $(pkg-config --cflags --libs libnats) -lpthread
fi
library=$(find $here/.venv -name 'libiroh_ffi.so' | head -1)
if [ -n "$library" ]; then
    folder=$(cd "$(dirname "$library")" && pwd)
    cc -O2 -Wall -o "$tools/iroh_driver" $here/drivers/iroh_driver.c "-L$folder" -l:libiroh_ffi.so \
        "-Wl,-rpath,$folder" -lpthread
fi

binaries=$(swift build --configuration release --show-bin-path)
cc -O2 -Wall -ISources/Apps/CRunar/include -o "$tools/c_library" $here/drivers/c_library.c "-L$binaries" -lRunarC \
    "-Wl,-rpath,$binaries" -lpthread
cc -O2 -Wall -shared -fPIC -o "$tools/allocations.so" $here/drivers/allocations.c
cc -O2 -Wall -shared -fPIC -o "$tools/unsynced.so" $here/drivers/unsynced.c
# A Python service with passkeys to compare the identity server with; without it its column is missing.
peer=$here/drivers/requirements-identity.txt
if ! cmp -s $peer $here/.venv-identity/installed.txt; then
    python3 -m venv --clear $here/.venv-identity
    $here/.venv-identity/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $peer &&
        cp $peer $here/.venv-identity/installed.txt || echo "   py_webauthn is not to be had for this system; measuring without it"
fi
# zenoh publishes over QUIC too.
if [ ! -e $here/.venv/zenoh ]; then
    $here/.venv/bin/pip install --quiet --disable-pip-version-check eclipse-zenoh==1.10.2 && touch $here/.venv/zenoh ||
        echo "   eclipse-zenoh is not to be had for this system; measuring without it"
fi

# Other readers of QR codes to compare with; without them their columns are missing.
if [ ! -e $here/.venv/readers ]; then
    $here/.venv/bin/pip install --quiet --disable-pip-version-check zxing-cpp==3.1.1 numpy==2.4.6 &&
        touch $here/.venv/readers || echo "   zxing-cpp is not to be had for this system; measuring without it"
fi

# otdf-python seals and opens messages, as in the tests.
./scripts/python-env.sh

[ "${ONLY:-}" = codes ] || $here/.venv/bin/python $here/bench.py --runar "$binaries/runar-bench" --tools "$tools" "$@"
# With some parts chosen, those only.
case " ${ONLY:-codes} " in
*" codes "*) $here/.venv/bin/python $here/codes.py --runar "$binaries/runar-bench" ;;
esac
[ -n "${ONLY:-}" ] || exec $here/.venv/bin/python $here/simulations.py \
    --runar "$binaries/runar" --other "$(swift build --show-bin-path)/runar"
