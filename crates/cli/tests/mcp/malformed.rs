//! Malformed messages: the server answers or ignores them, and continues.

use mw_testkit::host::{Host, text};
use serde_json::json;

use crate::home;

/// A small random generator, so that a failure can be reproduced.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

fn still_serves(host: &mut Host, what: &str) {
    let id = host.ask("ping", &json!({}));
    let answer = host.answer(id);
    assert!(answer.get("result").is_some(), "after {what}: {answer}");
}

#[test]
fn the_server_survives_malformed_messages() {
    let home = home();
    let mut host = Host::new(&home);
    let deep = "[".repeat(100_000);
    let nested = format!("{}1{}", r#"{"a":"#.repeat(500), "}".repeat(500));
    let nonsense: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"\r".to_vec(),
        b"   \t ".to_vec(),
        b"hello".to_vec(),
        b"GET / HTTP/1.1\r\nHost: x\r\n\r".to_vec(),
        b"{".to_vec(),
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"na"#.to_vec(),
        b"null".to_vec(),
        b"true".to_vec(),
        b"42".to_vec(),
        b"\"text\"".to_vec(),
        b"[]".to_vec(),
        b"{}".to_vec(),
        b"[[[[1]]]]".to_vec(),
        b"[1,2,{\"method\":1}]".to_vec(),
        br#"{"jsonrpc":"1.0","id":900,"method":"ping"}"#.to_vec(),
        br#"{"jsonrpc":2.0,"id":901,"method":"ping"}"#.to_vec(),
        br#"{"id":902,"method":"ping"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"ping"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#.to_vec(),
        format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(100_000)).into_bytes(),
        br#"{"jsonrpc":"2.0","id":903,"method":7}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":904,"method":"tools/call","params":7}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":905,"method":"initialize","params":{"protocolVersion":7}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":906,"result":{},"error":{}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":907,"error":"no"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","method":"notifications/progress","params":[]}"#.to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":908,\"method\":\"p\xff\xfeng\"}".to_vec(),
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":909,\"method\":\"ping\"}".to_vec(),
        vec![0; 1000],
        vec![0xff; 1000],
        deep.into_bytes(),
        nested.into_bytes(),
    ];
    for line in nonsense {
        host.server.say(&line).unwrap();
        host.server.say(b"\n").unwrap();
        still_serves(&mut host, &String::from_utf8_lossy(&line[..line.len().min(80)]));
    }
    assert!(text(&host.call("shell", &json!({"command": "echo on"}))).contains("on"));
}

/// Typical requests to a server.
fn usual(dice: &mut Dice) -> Vec<u8> {
    let requests = [
        json!({"jsonrpc": "2.0", "id": 10_000, "method": "tools/list", "params": {}}),
        json!({"jsonrpc": "2.0", "id": "ten", "method": "tools/call",
            "params": {"name": "task_list", "arguments": {"status": "running"}, "_meta": {"progressToken": 1}}}),
        json!({"jsonrpc": "2.0", "id": 10_001, "method": "tools/call",
            "params": {"name": "task_output", "arguments": {"task_id": "bash-aaaaaaaa", "lines": 10}}}),
        json!({"jsonrpc": "2.0", "id": 10_002, "method": "resources/read",
            "params": {"uri": "meanwhile://tasks"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 10_001}}),
        json!({"jsonrpc": "2.0", "id": 10_003, "method": "tasks/get", "params": {"taskId": "x"}}),
        json!({"jsonrpc": "2.0", "id": 10_004, "method": "resources/subscribe",
            "params": {"uri": "meanwhile://tasks"}}),
        json!([{"jsonrpc": "2.0", "id": 10_005, "method": "ping"}]),
    ];
    requests[dice.roll(requests.len())].to_string().into_bytes()
}

fn spoil(line: &mut Vec<u8>, dice: &mut Dice) {
    const PIECES: [&[u8]; 8] = [b"null", b"[]", b"{}", b"-1", b"\"\"", b"1e308", b"\\u0000", b"\xff"];
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(line.len().max(1)).min(line.len());
        match dice.roll(5) {
            0 => line.truncate(at),
            1 if at < line.len() => line[at] ^= 1 << dice.roll(8),
            2 if at < line.len() => drop(line.remove(at)),
            3 => drop(line.splice(at..at, PIECES[dice.roll(PIECES.len())].iter().copied())),
            _ => {
                // Replaces one value with another.
                let colons: Vec<_> = (0..line.len()).filter(|at| line[*at] == b':').collect();
                let Some(colon) = colons.get(dice.roll(colons.len().max(1))) else { continue };
                let end =
                    (colon + 1..line.len()).find(|at| b",}]".contains(&line[*at])).unwrap_or(line.len());
                line.splice(colon + 1..end, PIECES[dice.roll(PIECES.len())].iter().copied());
            }
        }
    }
    line.retain(|byte| *byte != b'\n');
}

#[test]
fn the_server_survives_thousands_of_corrupted_messages() {
    let home = home();
    let mut host = Host::new(&home);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for round in 0..40 {
        let seed = dice.0;
        for _ in 0..50 {
            let mut line = usual(&mut dice);
            spoil(&mut line, &mut dice);
            line.push(b'\n');
            host.server.say(&line).unwrap();
        }
        still_serves(&mut host, &format!("round {round}, dice {seed:#x}"));
    }
    let id = host.start("exit 3");
    assert_eq!(home.ended(&id)["exit_code"], 3);
}

#[test]
fn a_server_can_be_initialized_after_malformed_messages() {
    let home = home();
    let mut host = Host::silent(home.command(["mcp"]));
    let mut dice = Dice(77);
    for _ in 0..200 {
        let mut line: Vec<u8> = (0..dice.roll(60)).map(|_| dice.roll(256) as u8).collect();
        line.retain(|byte| *byte != b'\n');
        line.push(b'\n');
        host.server.say(&line).unwrap();
    }
    assert_eq!(host.greet("2025-11-25")["protocolVersion"], "2025-11-25");
    still_serves(&mut host, "noise");
}
