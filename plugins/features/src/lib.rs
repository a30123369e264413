//! Nothing: what counts is which features of its dependencies this package wants (`Cargo.toml`).
