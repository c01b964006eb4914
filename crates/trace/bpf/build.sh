#!/usr/bin/env bash
# Builds flight.o from flight.bpf.c: `build.sh [OUTPUT]`. The object is committed, so that building triptime needs no clang.
# Needs clang-14 and llvm-strip-14 (Debian 12: clang-14, llvm-14); another version makes another object.
set -euo pipefail
output=$(realpath -m "${1:-$(dirname "$0")/flight.o}")
cd "$(dirname "$0")"
clang-14 -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror \
    -fdebug-compilation-dir=. -c flight.bpf.c -o "$output"
# Takes the debugging sections; the type information (BTF) stays.
llvm-strip-14 -g "$output"
