//! Ready-made checks, one feature each; with none of them it adds nothing to the base.
