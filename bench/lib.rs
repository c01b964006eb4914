//! Nothing here: the benchmarks are in `benches/`, the side-by-side scripts beside this file.
