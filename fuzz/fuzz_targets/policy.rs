//! Any text is judged without a panic and in little time, and no text is allowed that was not parsed.
#![no_main]

use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use mw_policy::{
    CommandText, ConfinementLevel, Decision, Dialect, Files, Mode, Request, Rules, Tool, decide,
};

struct Plain;

impl Files for Plain {
    fn real(&self, absolute: &str) -> Option<String> {
        Some(absolute.to_owned())
    }

    fn text(&self, absolute: &str) -> Option<String> {
        absolute.ends_with(".sh").then(|| "#!/bin/sh\nls\n".to_owned())
    }
}

fn judged(text: &str, shell: &str) -> (Decision, bool) {
    let rules = Rules::none();
    let verdict = decide(&Request {
        mode: Mode::Safe,
        dialect: Dialect::Canonical,
        tool: Tool::named("shell").expect("a tool of the table"),
        command: Some(CommandText::Script { shell, text }),
        cwd: "/p",
        project: "/p",
        home: "/home/me",
        writable: &[],
        env: &[],
        ci_reads: false,
        confined: ConfinementLevel::No,
        rules: &rules,
        files: &Plain,
    });
    (verdict.decision, verdict.parsed)
}

fuzz_target!(|text: &str| {
    let start = Instant::now();
    for shell in ["/bin/sh", "/bin/bash"] {
        let (decision, parsed) = judged(text, shell);
        assert!(parsed || decision != Decision::Allow, "allowed a text that was not parsed");
        let grouped = format!("{{ {text}\n}}");
        let (inside, _) = judged(&grouped, shell);
        // A text that closes the group itself, or goes on in the next line, is another command.
        let other = text.contains('}') || text.ends_with('\\');
        assert!(other || inside >= decision, "a group lowered the decision");
    }
    assert!(start.elapsed() < Duration::from_secs(2), "took {:?}", start.elapsed());
});
