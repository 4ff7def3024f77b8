//! Scripts for children that misbehave. They need `sh`, coreutils and `setsid`, nothing else.
//!
//! Scripts that have to wait do so at a [`gate`]; scripts that leave processes behind write their ids to
//! files in the working directory.

/// Waits until a file is in the working directory; a test makes it with [`crate::Home::open`].
#[must_use]
pub fn gate(file: &str) -> String {
    format!("while [ ! -e {file} ]; do sleep 0.02; done")
}

/// Prints a line, waits at a gate, and exits with a code.
#[must_use]
pub fn gated(file: &str, code: i32) -> String {
    format!("echo waiting; {}; exit {code}", gate(file))
}

/// Does nothing for longer than any test.
pub const SLEEPER: &str = "exec sleep 600";

/// Lives on whatever it is asked, until SIGKILL.
pub const STUBBORN: &str = "trap '' TERM INT HUP; echo ready; while :; do sleep 0.1; done";

/// Leaves a child in a session of its own, whose process id is in `file`, and goes on.
#[must_use]
pub fn leave_setsid(file: &str) -> String {
    format!("setsid sh -c '{}' </dev/null >/dev/null 2>&1 &", noted_sleeper(file))
}

/// Leaves a grandchild whose parent is gone, in a session of its own, and goes on.
#[must_use]
pub fn leave_double_fork(file: &str) -> String {
    let inner = format!("setsid sh -c \"{}\" &", noted_sleeper(file).replace('$', "\\$"));
    format!("sh -c '{inner}' </dev/null >/dev/null 2>&1")
}

/// Leaves a child in the same group, which keeps the output open, and goes on.
#[must_use]
pub fn leave_holder(file: &str) -> String {
    format!("sh -c '{}' &", noted_sleeper(file))
}

/// Without a further process: whoever sees the file and counts must find one. A reader waits for the whole line, see
/// [`crate::Home::pid_in`].
fn noted_sleeper(file: &str) -> String {
    format!("echo $$ > {file}; exec sleep 600")
}

/// Starts that many children, notes that they are there, and waits for them.
#[must_use]
pub fn fork_many(count: u32, file: &str) -> String {
    let spawn = "sleep 600 & i=$((i+1))";
    format!("i=0; while [ $i -lt {count} ]; do {spawn}; done; echo $$ > {file}; wait")
}

/// A script file that doubles itself `depth` times; every copy sleeps in the end.
#[must_use]
pub fn doubling(depth: u32) -> String {
    let body = r#"if [ "$1" -gt 0 ]; then n=$(($1-1)); sh bomb.sh $n & sh bomb.sh $n & fi; exec sleep 600"#;
    format!("cat > bomb.sh <<'END'\n{body}\nEND\nexec sh bomb.sh {depth}")
}

/// Fills that many MiB of memory in a child, and holds them until a gate opens.
#[must_use]
pub fn hold_memory(mebibytes: u32, file: &str) -> String {
    // Until a line is complete, `tail` keeps all of it.
    format!("(head -c {mebibytes}M /dev/zero; touch {file}.held; {}) | tail -n 1 >/dev/null", gate(file))
}

/// Uses a processor for ever, in that many processes.
#[must_use]
pub fn burn(processes: u32) -> String {
    let one = "while :; do :; done";
    (1..processes).map(|_| format!("({one}) & ")).collect::<String>() + one
}

/// Uses a processor for ever in processes of which none lives for long.
pub const BURN_IN_TURN: &str = "while :; do sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'; done";

/// The same in processes that have lost their parent when they end.
pub const BURN_ORPHANED: &str = "while :; do \
    sh -c 'sh -c \"i=0; while [ \\$i -lt 30000 ]; do i=\\$((i+1)); done; echo done > turn\" &' </dev/null; \
    while [ ! -e turn ]; do sleep 0.01; done; rm turn; done";

/// Prints exactly that many bytes on one line.
#[must_use]
pub fn one_line(bytes: u64) -> String {
    format!("head -c {bytes} /dev/zero | tr '\\0' x")
}

/// Prints the numbers from 1, a line each.
#[must_use]
pub fn numbers(last: u64) -> String {
    format!("seq 1 {last}")
}

/// Returns what `seq first last` prints.
#[must_use]
pub fn numbered(first: u64, last: u64) -> Vec<u8> {
    use std::io::Write;

    let mut text = Vec::new();
    for number in first..=last {
        writeln!(text, "{number}").expect("memory can be written to");
    }
    text
}

/// Prints `out 1`, `err 1`, `out 2`, … in turn on both streams.
#[must_use]
pub fn both_streams(lines: u32) -> String {
    format!("i=0; while [ $i -lt {lines} ]; do i=$((i+1)); echo out $i; echo err $i >&2; done")
}

/// Fills both streams at the same time.
#[must_use]
pub fn fill_both(bytes: u64) -> String {
    format!("(head -c {bytes} /dev/zero | tr '\\0' e >&2) & head -c {bytes} /dev/zero | tr '\\0' o; wait")
}

/// Prints bytes that are no text, among them a sequence that is cut short.
pub const INVALID_UTF8: &str = r"printf 'a\377\376b\200c\303\n'";
/// What [`INVALID_UTF8`] prints.
pub const INVALID_UTF8_BYTES: &[u8] = b"a\xff\xfeb\x80c\xc3\n";

/// Closes its output, waits at a gate, and exits with a code.
#[must_use]
pub fn close_pipes(file: &str, code: i32) -> String {
    format!("echo before; exec >&- 2>&-; {}; exit {code}", gate(file))
}

/// Exits with a code at once, and prints `late` from a child when a gate opens.
#[must_use]
pub fn write_after_exit(file: &str, code: i32) -> String {
    format!("({}; echo late) & echo early; exit {code}", gate(file))
}
