//! Requests that only a host can make: with a NUL byte, which a shell cannot pass, and with odd names of variables.

use meanwhile::engine::TaskRequest;
use meanwhile::engine::model::{CommandSpec, EnvVar, RawText};
use meanwhile::{Error, Scope, TaskFilter};

use crate::world::{Limits, World};

#[test]
fn a_request_with_a_nul_byte_is_refused_and_creates_no_task() {
    let world = World::new(Limits { per_session: 2, total: 0 });
    let nul = || RawText::from(b"echo a\0b".as_slice());
    let shell = |script| CommandSpec::Shell { program: "/bin/sh".into(), script };
    let variable = |name: RawText, value: RawText| vec![EnvVar { name, value }];
    let requests = [
        (shell(nul()), Vec::new()),
        (CommandSpec::Argv(vec!["echo".into(), nul()]), Vec::new()),
        (CommandSpec::Argv(vec![nul()]), Vec::new()),
        (shell("true".into()), variable(nul(), "value".into())),
        (shell("true".into()), variable("NAME".into(), nul())),
    ];
    for (command, env) in requests {
        let request = TaskRequest::new("s", command, std::env::temp_dir(), env);
        let refused = world.runtime().starts().start(&request).map(|started| started.task.id);
        assert!(
            matches!(&refused, Err(Error::Invalid(invalid)) if invalid.to_string().contains("NUL")),
            "{refused:?}"
        );
    }
    assert_eq!(world.runtime().tasks().list(&TaskFilter::new(Scope::All)).unwrap().total, 0);
}

/// A program would get `LD_PRELOAD=/x` with the value `y` as the variable `LD_PRELOAD`, under which nobody has judged it.
#[test]
fn a_variable_whose_name_would_become_another_is_refused() {
    let world = World::new(Limits { per_session: 2, total: 0 });
    for name in ["LD_PRELOAD=/tmp/x.so", "=", ""] {
        let env = vec![EnvVar { name: name.into(), value: "y".into() }];
        let command = CommandSpec::Shell { program: "/bin/sh".into(), script: "true".into() };
        let request = TaskRequest::new("s", command, std::env::temp_dir(), env);
        let refused = world.runtime().starts().start(&request).map(|started| started.task.id);
        assert!(
            matches!(&refused, Err(Error::Invalid(invalid)) if invalid.to_string().contains("name of a variable")),
            "{name:?}: {refused:?}"
        );
    }
    assert_eq!(world.runtime().tasks().list(&TaskFilter::new(Scope::All)).unwrap().total, 0);
}
