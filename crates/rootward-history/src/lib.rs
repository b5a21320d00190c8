//! What is remembered: the seam, the memory store, and the contract suite every store must pass.
