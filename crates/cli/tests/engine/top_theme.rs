//! The colours of `mw top`.

use mw_testkit::{Home, Screen};

use crate::home;
use crate::settings::{both_ways, setting, variable};
use crate::top::{leave, until};

/// The background of the first line, by theme.
const DARK: &str = "48;2;38;50;56";
const LIGHT: &str = "48;2;221;230;238";

/// Returns everything that is written to a terminal with all colours.
fn written(home: &Home, arguments: &[&str], set: &[(&str, &str)]) -> String {
    let command = arguments.iter().fold(home.command(["top"]), |command, word| command.arg(word));
    let command = command.env("TERM", "xterm").env("COLORTERM", "truecolor").env("NO_COLOR", "");
    let terminal = set.iter().fold(command, |command, (name, value)| command.env(name, value)).on_terminal();
    until(&terminal, "the list is shown", |screen: &Screen| screen.text.contains(crate::top::LIST));
    let written = terminal.shown();
    leave(terminal);
    written
}

#[test]
fn theme_takes_effect() {
    for home in both_ways("theme", "light") {
        assert!(written(&home, &[], &[]).contains(LIGHT));
        let asked = written(&home, &["--theme", "dark"], &[]);
        assert!(asked.contains(DARK) && !asked.contains(LIGHT), "the option takes precedence");
        let colourless = written(&home, &[], &[("NO_COLOR", "1")]);
        assert!(!colourless.contains("48;2;") && !colourless.contains("38;2;"), "{colourless:?}");
        let requested = written(&home, &["--theme", "dark"], &[("NO_COLOR", "1")]);
        assert!(requested.contains(DARK), "{requested:?}");
    }
    assert!(written(&home(), &[], &[]).contains(DARK));
    for plain in ["16", "none"] {
        let home = home().with_env(variable("theme"), plain);
        assert_eq!(setting(&home, "theme").0, plain);
        assert!(!written(&home, &[], &[]).contains("48;2;"), "{plain}");
    }
}
