//! Scripts for misbehaving children. They need only `sh`, coreutils and `setsid`.
//!
//! A script that must wait does so at a [`gate`]. A script that leaves processes behind writes their ids to files in the
//! working directory.

/// Waits until a file exists in the working directory; a test creates it with [`crate::Home::open`].
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

/// Ignores every signal that asks it to end; only SIGKILL ends it.
pub const STUBBORN: &str = "trap '' TERM INT HUP; echo ready; while :; do sleep 0.1; done";

/// Leaves a child in a separate session, writes its process id to `file`, and continues.
#[must_use]
pub fn leave_setsid(file: &str) -> String {
    format!("setsid sh -c '{}' </dev/null >/dev/null 2>&1 &", noted_sleeper(file))
}

/// Leaves an orphaned grandchild in a separate session, and continues.
#[must_use]
pub fn leave_double_fork(file: &str) -> String {
    let inner = format!("setsid sh -c \"{}\" &", noted_sleeper(file).replace('$', "\\$"));
    format!("sh -c '{inner}' </dev/null >/dev/null 2>&1")
}

/// Leaves a child in the same process group, which holds the output open, and continues.
#[must_use]
pub fn leave_holder(file: &str) -> String {
    format!("sh -c '{}' &", noted_sleeper(file))
}

/// Uses `exec`, so there is exactly one process when the file exists. A reader waits for the whole line, see
/// [`crate::Home::pid_in`].
fn noted_sleeper(file: &str) -> String {
    format!("echo $$ > {file}; exec sleep 600")
}

/// Starts that many children, writes a file, and waits for them.
#[must_use]
pub fn fork_many(count: u32, file: &str) -> String {
    let spawn = "sleep 600 & i=$((i+1))";
    format!("i=0; while [ $i -lt {count} ]; do {spawn}; done; echo $$ > {file}; wait")
}

/// A script that starts two copies of itself, `depth` levels deep; then every copy sleeps.
#[must_use]
pub fn doubling(depth: u32) -> String {
    let body = r#"if [ "$1" -gt 0 ]; then n=$(($1-1)); sh bomb.sh $n & sh bomb.sh $n & fi; exec sleep 600"#;
    format!("cat > bomb.sh <<'END'\n{body}\nEND\nexec sh bomb.sh {depth}")
}

/// Fills that many MiB of memory in a child, and holds them until a gate opens.
#[must_use]
pub fn hold_memory(mebibytes: u32, file: &str) -> String {
    // `tail` keeps an incomplete line in memory.
    format!("(head -c {mebibytes}M /dev/zero; touch {file}.held; {}) | tail -n 1 >/dev/null", gate(file))
}

/// Keeps processors busy forever, with that many processes.
#[must_use]
pub fn burn(processes: u32) -> String {
    let one = "while :; do :; done";
    (1..processes).map(|_| format!("({one}) & ")).collect::<String>() + one
}

/// Keeps a processor busy forever, with a sequence of short processes.
pub const BURN_IN_TURN: &str = "while :; do sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'; done";

/// Keeps a processor busy forever, with a sequence of processes whose parent ends before them.
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

/// Prints bytes that are not UTF-8, including an incomplete sequence.
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
