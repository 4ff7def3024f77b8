//! Requests that only a host can make, because a shell cannot pass a NUL byte.

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
