//! Reads skills and checks them.
