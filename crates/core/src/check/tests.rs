//! Tests of whole checks on small folders.
