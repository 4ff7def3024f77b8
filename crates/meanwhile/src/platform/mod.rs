//! What differs between systems. One file each, the same functions in both.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod macos;
#[cfg(target_os = "linux")]
#[cfg_attr(not(test), expect(dead_code, reason = "no front end shows ports yet"))]
mod ports_linux;
#[cfg(not(target_os = "linux"))]
#[expect(dead_code, reason = "no front end shows ports yet")]
mod ports_macos;

#[cfg(target_os = "linux")]
pub(crate) use linux::{random_number, short_path, uptime_us};
#[cfg(not(target_os = "linux"))]
pub(crate) use macos::{random_number, short_path, uptime_us};
