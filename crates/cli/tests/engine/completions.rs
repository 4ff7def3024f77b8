//! Completions in real shells.

use mw_testkit::{Home, children, need_program};

use crate::home;

/// Returns a home in which `mw` is on the path, with some tasks.
fn with_tasks() -> Home {
    let home = home();
    let directory = std::path::Path::new(env!("CARGO_BIN_EXE_mw")).parent().unwrap().to_owned();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap_or_default());
    let home = home.with_env("PATH", path);
    let _web = home.start_with(&["--name", "dev-server"], children::SLEEPER);
    let done = home.start_with(&["--name", "done-build", "--batch", "nightly"], "true");
    home.ended(&done);
    home
}

fn lines(home: &Home, shell: &str, script: &str) -> Vec<String> {
    let said = home.program(shell).arg("-c").arg(script).run().ok();
    said.lines().map(|line| line.split('\t').next().unwrap_or_default().trim().to_owned()).collect()
}

#[test]
fn bash_completes_names_of_tasks() {
    need_program("bash");
    let home = with_tasks();
    let offered = |line: &str| {
        let words: Vec<_> = line.split(' ').map(|word| format!("'{word}'")).collect();
        let script = format!(
            "source <(mw completions bash); COMP_WORDS=({}); COMP_CWORD={}; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; \
             COMP_TYPE=9; _clap_complete_mw mw \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\" 2>/dev/null; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1
        );
        lines(&home, "bash", &script)
    };
    assert_eq!(offered("mw kill d"), ["dev-server"], "ended tasks are not offered");
    assert_eq!(offered("mw logs d"), ["dev-server", "done-build"]);
    assert_eq!(offered("mw wait --batch "), ["nightly"]);
    let _ = home.mw(["template", "save", "dawn", "--", "true"]).exits(0);
    assert_eq!(offered("mw template run d"), ["dawn"]);
    assert_eq!(offered("mw template save d"), [""]);
    assert_eq!(offered("mw template sh"), ["show"]);
    std::fs::write(home.work().join("Procfile"), "deploy: true\nweb: true\n").unwrap();
    assert_eq!(offered("mw up d"), ["deploy"]);
    assert_eq!(offered("mw down w"), ["web"]);
    assert_eq!(offered("mw sta"), ["start", "status"]);
    assert_eq!(offered("mw list --status tim"), ["timed_out"]);
    for (line, option) in [
        ("mw start --del", "--delay"),
        ("mw start --at", "--at"),
        ("mw start --retr", "--retries"),
        ("mw start --ev", "--every"),
        ("mw start --cr", "--cron"),
        ("mw start --notify-e", "--notify-each"),
        ("mw start --restart on", "on-failure"),
        ("mw start --restart al", "always"),
        ("mw start --network lo", "loopback"),
        ("mw template save x --rep", "--replace"),
        ("mw wait --not", "--notify"),
        ("mw clear --every", "--everything"),
    ] {
        assert!(offered(line).iter().any(|offer| offer == option), "{line}: {:?}", offered(line));
    }
}

#[test]
fn zsh_and_fish_load_the_scripts() {
    need_program("zsh");
    need_program("fish");
    let home = with_tasks();
    let loaded = "autoload -U compinit && compinit -u; source <(mw completions zsh); print $_comps[mw]";
    assert_eq!(lines(&home, "zsh", loaded), ["_clap_dynamic_completer_mw"]);
    let offered = lines(&home, "fish", "mw completions fish | source; complete -C 'mw kill d'");
    assert_eq!(offered, ["dev-server"]);
}

#[test]
fn completions_are_installed_once() {
    let home = home();
    for (shell, file) in
        [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish/completions/mw.fish")]
    {
        let path = home.user().join(file);
        let said = home.mw(["completions", shell, "--install"]).ok();
        assert!(said.starts_with(&format!("added to {}: ", path.display())), "{said}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(home.mw(["completions", shell, "--install"]).ok().contains("already has the line"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    let _ = home.mw(["completions", "powershell", "--install"]).exits(2);
}
