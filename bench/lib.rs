//! Empty: the benchmarks are in `benches/`, the scripts that compare with peers are next to this file.
