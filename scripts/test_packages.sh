#!/usr/bin/env bash
# Builds, tests and documents each crate that can be taken alone, from its package and outside of this repository.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mapfile -t crates < <(grep -l '^publish = true' crates/*/Cargo.toml | xargs -n 1 dirname | xargs -n 1 basename)

cargo package --no-verify --allow-dirty --quiet --target-dir "$folder" "${crates[@]/#/-ptriptime-}"
# The packages beside it stand in for a registry.
mkdir "$folder/.cargo"
echo "[patch.crates-io]" >"$folder/.cargo/config.toml"
for crate in "${crates[@]}"; do
    mkdir "$folder/$crate"
    tar -xzf "$folder"/package/triptime-"$crate"-*.crate -C "$folder/$crate" --strip-components=1
    echo "triptime-$crate = { path = \"$folder/$crate\" }" >>"$folder/.cargo/config.toml"
done

export CARGO_TARGET_DIR=$folder/target RUSTDOCFLAGS=-Dwarnings
for crate in "${crates[@]}"; do
    echo "== $crate"
    cd "$folder/$crate"
    # Unit tests, programs of tests, and examples; then those in the documentation.
    cargo test --quiet --all-targets
    cargo test --quiet --doc
    cargo doc --quiet --no-deps
done
