#!/usr/bin/env bash
# library.sh [FOLDER [PRODUCTS]]: makes librunar (shared and static), its headers, runar.py and runar.pc in FOLDER
# (.build/library), and proves with an example in C and one in Python that they work from there. PRODUCTS is a folder
# with libRunarCStatic.a; without it, one is built with optimization.
#
# The shared library carries Swift's runtime in it and shows nothing but the functions of runar.h, so that a program
# needs no Swift. It still needs the system's ngtcp2, GnuTLS, SQLite and zlib, as `make dependencies` installs them.
set -eu
cd "$(dirname "$0")/.."

folder=${1:-.build/library}
headers=Sources/Apps/CRunar/include
version=$(sed -n 's/.*static let text = "\(.*\)".*/\1/p' Sources/Apps/NodeModel/Text/ProductVersion.swift)
engine="-lngtcp2_crypto_gnutls -lngtcp2 -lgnutls -lsqlite3 -lz"

say() { printf '   %s\n' "$*"; }

products=${2:-}
if [ -z "$products" ]; then
    swift build --configuration release --product RunarCStatic
    products=$(swift build --configuration release --show-bin-path)
fi
archive=$products/libRunarCStatic.a
mkdir -p "$folder"
cp "$headers/runar.h" "$headers/runar_sealed.h" "$headers/runar_circle.h" Bindings/python/runar.py "$folder/"
cp "$archive" "$folder/librunar.a"

if [ "$(uname -s)" = Darwin ]; then
    shared=librunar.dylib runtime="" system="" libraries=""
    printf '_runar_*\n' >"$folder/symbols"
    cc -x c -c /dev/null -o "$folder/empty.o"
    swiftc -emit-library -o "$folder/$shared" "$folder/empty.o" -Xlinker -force_load -Xlinker "$folder/librunar.a" \
        -Xlinker -exported_symbols_list -Xlinker "$folder/symbols" -Xlinker -install_name -Xlinker "@rpath/$shared" \
        $(pkg-config --libs-only-L libngtcp2_crypto_gnutls) $engine
else
    shared=librunar.so.0
    # What the static Foundation needs and objects that were compiled for the shared one do not ask for.
    libraries="-lFoundation -lFoundationEssentials -lFoundationInternationalization -lCoreFoundation -l_FoundationICU"
    libraries="$libraries -l_FoundationCShims -l_FoundationCollections -lswiftSynchronization"
    # A static program needs swiftrt.o besides, which tells the runtime of the types that there are.
    runtime=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")/lib/swift_static/linux
    system="-lswiftCore -lswift_Concurrency -lswift_StringProcessing -lswift_RegexParser -lswiftGlibc"
    system="$system -lswiftDispatch -lswift_Builtin_float -ldispatch -lBlocksRuntime"
    system="$system -lstdc++ -lm -ldl -lpthread"
    # One object of all: what comes out of an archive is hidden where the static runtime is linked.
    ld -r --whole-archive "$folder/librunar.a" -o "$folder/runar.o"
    swiftc -emit-library -static-stdlib -o "$folder/$shared" "$folder/runar.o" $libraries $engine \
        -Xlinker -soname="$shared" -Xlinker --version-script=scripts/library-symbols.map -Xlinker --gc-sections \
        -Xlinker -z -Xlinker defs
    strip --strip-unneeded "$folder/$shared"
    ln -sf "$shared" "$folder/librunar.so"
    rm -f "$folder/runar.o" "$folder/runar.autolink"
fi

cat >"$folder/runar.pc" <<END
prefix=\${pcfiledir}
Name: runar
Description: private networks of your own devices
Version: $version
Cflags: -I\${prefix}
Libs: -L\${prefix} -lrunar
Libs.private: ${runtime:+$runtime/$(uname -m)/swiftrt.o -L$runtime -Wl,--start-group} $libraries $system ${runtime:+-Wl,--end-group} $engine
END

shown=$(nm -D -g --defined-only "$folder/$shared" 2>/dev/null | awk '{print $3}' | grep -v '^runar_' || true)
[ -z "$shown" ] || { printf 'error: the library shows more than its functions:\n%s\n' "$shown" >&2; exit 1; }

say "a program in C over the shared library"
cc -std=c11 -Wall -Wextra -Werror Examples/c/hello.c $(PKG_CONFIG_PATH=$folder pkg-config --cflags --libs runar) \
    -Wl,-rpath,"$PWD/$folder" -lpthread -o "$folder/hello"
"$folder/hello"
say "a program in Python over the shared library"
RUNAR_LIBRARY="$folder/$shared" PYTHONPATH="$folder" PYTHONDONTWRITEBYTECODE=1 python3 Examples/python/hello.py
say "$folder: $(du -h "$folder/$shared" | cut -f1) $shared, $(du -h "$folder/librunar.a" | cut -f1) librunar.a"
