//! Tasks on every back-end: one list of behaviours for all of them, and what only some of them have.
//!
//! The engines are real: an SSH server, Docker, Podman and a Slurm cluster, each started for one test with its own directory and socket. A
//! back-end whose engine is not installed is reported as not tested.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod behaviours;
mod configured;
mod containers;
mod engine_api;
mod engines;
mod far_side;
mod matrix;
mod sandbox;
mod slurm;
mod slurm_cluster;
mod slurm_nodes;
mod world;
