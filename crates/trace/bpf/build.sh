#!/usr/bin/env bash
# Builds flight.o, hops.o and passage.o from their sources: `build.sh [FOLDER]`. The objects are committed, so that building triptime
# needs no clang. Needs clang-14 and llvm-strip-14 (Debian 12: clang-14, llvm-14); another version makes other objects.
set -euo pipefail
folder=$(realpath -m "${1:-$(dirname "$0")}")
cd "$(dirname "$0")"
for name in flight hops passage; do
    clang-14 -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror \
        -fdebug-compilation-dir=. -c "$name.bpf.c" -o "$folder/$name.o"
    # Takes the debugging sections; the type information (BTF) stays.
    llvm-strip-14 -g "$folder/$name.o"
done
