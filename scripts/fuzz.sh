#!/usr/bin/env bash
# fuzz.sh [SECONDS] [ARGUMENTS OF LIBFUZZER]: reads mutated NanoTDFs, PEM texts, and messages of mailboxes and circles
# under libFuzzer and the address sanitizer, for a minute. The inputs that reach new code are kept in .build-fuzz/corpus,
# and the next run begins with them; the first begins with the test vectors. One that fails is named, and left in
# .build-fuzz. Tests/Fuzz/Format.swift lists the decoders.
set -eu
cd "$(dirname "$0")/.."

seconds=${1:-60}
[ $# -eq 0 ] || shift
folder=.build-fuzz
mkdir -p "$folder/corpus"
python3 - "$folder/corpus" <<'END'
import json
import pathlib
import sys


def texts(value):
    """Every text in a file of vectors, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)


count = 0
for file in sorted(pathlib.Path("Tests/Vectors/NanoTDF").glob("*.json")):
    for text in texts(json.loads(file.read_text())):
        if text.startswith("4c314c"):
            data = bytes.fromhex(text)
        elif text.startswith("-----BEGIN"):
            data = text.encode()
        else:
            continue
        pathlib.Path(sys.argv[1], f"vector-{count}").write_bytes(data)
        count += 1
END
# The fuzzer calls decoders that are internal to their modules.
export RUNAR_FUZZ=1
flags=(--scratch-path "$folder" --configuration release -Xswiftc -enable-testing
    -Xswiftc -sanitize=fuzzer,address -Xswiftc -parse-as-library -Xswiftc -use-ld=lld)
./scripts/stage.sh "build the fuzzer" swift build --product fuzz "${flags[@]}"
# The leak check takes Swift's globals for leaks.
export ASAN_OPTIONS=detect_leaks=0
fuzz=$(swift build "${flags[@]}" --show-bin-path)/fuzz
"$fuzz" seeds "$folder/corpus" Tests/Vectors
"$fuzz" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -artifact_prefix="$folder/" -print_final_stats=1 "$@" "$folder/corpus"
