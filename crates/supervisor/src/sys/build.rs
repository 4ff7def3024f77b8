//! How this program was built.

/// The version, and the C library that this program is linked with. With musl it starts faster.
pub const BUILD: &str = if cfg!(target_env = "musl") {
    concat!(env!("CARGO_PKG_VERSION"), " (musl)")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " (glibc)")
};
