//! Benchmarks: reference servers beside ours, a paced prober; prints ratios of one interleaved run.
