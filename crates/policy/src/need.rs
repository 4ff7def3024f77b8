//! What a command needs: the grants that its parts add up to.

use mw_model::{EnvironmentGrant, Grant, NetworkGrant, ReadGrant, WriteGrant};

use super::decision::BuiltinRule;

/// Returns the grant that allows everything.
pub(super) const fn everything() -> Grant {
    Grant {
        read: ReadGrant::All,
        write: WriteGrant::Anything,
        network: NetworkGrant::Full,
        environment: EnvironmentGrant::All,
    }
}

/// Returns a grant that only allows writes.
pub(super) fn writes(write: WriteGrant) -> Grant {
    Grant { write, ..Grant::default() }
}

/// Returns a grant that only allows a network.
pub(super) fn network(network: NetworkGrant) -> Grant {
    Grant { network, ..Grant::default() }
}

/// Returns the grant of code of the project: the project, and servers on this machine.
pub(super) fn project_code() -> Grant {
    Grant { write: WriteGrant::Project, network: NetworkGrant::Loopback, ..Grant::default() }
}

/// Returns what a fetch from another repository needs: the network, the keys of the user, and the repository.
pub(super) fn remote_repository() -> Grant {
    Grant {
        read: ReadGrant::All,
        write: WriteGrant::Project,
        network: NetworkGrant::Full,
        environment: EnvironmentGrant::All,
    }
}

/// Returns what a program needs that asks another machine with the keys of the user.
pub(super) fn remote_service() -> Grant {
    Grant { write: WriteGrant::Temp, ..remote_repository() }
}

/// Returns what a download into the project needs. Stores of packages belong to it.
pub(super) fn download() -> Grant {
    Grant { network: NetworkGrant::Full, ..writes(WriteGrant::Project) }
}

/// Returns whether a grant has more than code with unknown effects may get without approval: another machine could
/// learn what the code reads, or the code could read secrets.
pub(super) fn is_extra(grant: &Grant) -> bool {
    grant.network == NetworkGrant::Full || reveals(grant) || grant.write == WriteGrant::Anything
}

/// Returns whether a grant shows secrets.
pub(super) fn reveals(grant: &Grant) -> bool {
    grant.read == ReadGrant::All || grant.environment == EnvironmentGrant::All
}

/// Returns whether confinement alone holds what such a finding is about.
pub(super) const fn is_held(builtin: BuiltinRule) -> bool {
    match builtin {
        BuiltinRule::UnknownCode
        | BuiltinRule::UnknownProgram
        | BuiltinRule::NotLiteral
        | BuiltinRule::Variable => true,
        BuiltinRule::ToolMode
        | BuiltinRule::Unreadable
        | BuiltinRule::TooLong
        | BuiltinRule::Delete
        | BuiltinRule::Destroy
        | BuiltinRule::WriteOutside
        | BuiltinRule::WriteProtected
        | BuiltinRule::Network
        | BuiltinRule::Secret
        | BuiltinRule::OtherUser
        | BuiltinRule::Kill
        | BuiltinRule::Install
        | BuiltinRule::Repository
        | BuiltinRule::Disguise
        | BuiltinRule::Combination => false,
    }
}

/// Returns what the approval of a finding gives, unless the finding is more specific.
pub(super) fn of(builtin: BuiltinRule) -> Grant {
    match builtin {
        BuiltinRule::ToolMode | BuiltinRule::Combination => Grant::default(),
        BuiltinRule::Delete | BuiltinRule::Repository => writes(WriteGrant::Project),
        BuiltinRule::Network => download(),
        BuiltinRule::Secret => Grant { read: ReadGrant::All, ..Grant::default() },
        BuiltinRule::Unreadable
        | BuiltinRule::TooLong
        | BuiltinRule::Destroy
        | BuiltinRule::WriteOutside
        | BuiltinRule::WriteProtected
        | BuiltinRule::UnknownCode
        | BuiltinRule::UnknownProgram
        | BuiltinRule::NotLiteral
        | BuiltinRule::Variable
        | BuiltinRule::OtherUser
        | BuiltinRule::Kill
        | BuiltinRule::Install
        | BuiltinRule::Disguise => everything(),
    }
}
