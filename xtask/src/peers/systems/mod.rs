//! The measured systems, one file each.

mod bare;
mod kind;
mod mw;
mod mw_seed;
mod nq;
mod pm2;
mod pueue;
mod spawner;
mod tsp;

pub(super) use kind::Kind;
