//! The file contract.
