//! Export of spans: none is lost, and no command waits for the receiver.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use mw_testkit::{Home, SOON, children, wait_until};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use serde_json::Value;

use crate::home;
use crate::otlp_receiver::{Manner, Receiver, attribute, hex};
use crate::wait::free_port;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HOST: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn home_of(receiver: &Receiver) -> Home {
    home().with_env(ENDPOINT, &receiver.endpoint)
}

fn export_state(home: &Home) -> Value {
    home.mw(["traces", "--json"]).exits(0).json()["export"].clone()
}

/// Returns the `mw settle` processes of a home, which export spans.
fn settlers(home: &Home) -> Vec<u32> {
    let words = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let settles = |pid: &u32| words(pid).split(|byte| *byte == 0).any(|word| word == b"settle");
    home.tagged().into_iter().filter(settles).collect()
}

#[test]
fn test_background_task_with_otel() {
    let receiver = Receiver::new(Manner::Takes);
    let home = home_of(&receiver)
        .with_env("TRACEPARENT", HOST)
        .with_env("OTEL_EXPORTER_OTLP_HEADERS", "x-token=a%20secret")
        .with_env("OTEL_SERVICE_NAME", "agent")
        .with_env("OTEL_RESOURCE_ATTRIBUTES", "deployment=test");
    let id = home.start("exit 3");
    let task = home.ended(&id);
    let spans = receiver.until_taken(2);
    assert_eq!(spans.len(), 2);
    let (start, execute) = (&spans[0], &spans[1]);
    assert_eq!(
        (start.name.as_str(), execute.name.as_str()),
        ("background_task_start", "background_task_execute")
    );
    for span in &spans {
        assert_eq!(hex(&span.trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano && span.start_time_unix_nano > 0);
        assert_eq!(attribute(span, "task.id"), id);
        assert_eq!(attribute(span, "task.command"), "exit 3");
        assert_eq!(attribute(span, "task.approved_by"), "user");
        assert_eq!(attribute(span, "task.pid"), task["pid"].to_string());
    }
    assert_eq!(hex(&start.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(execute.parent_span_id, start.span_id);
    assert_eq!(execute.links.len(), 1);
    assert_eq!((&execute.links[0].span_id, &execute.links[0].trace_id), (&start.span_id, &start.trace_id));
    assert_eq!(hex(&execute.span_id), task["span_id"].as_str().unwrap());
    assert_eq!(
        (attribute(execute, "task.status"), attribute(execute, "task.exit_code")),
        ("failed".into(), "3".into())
    );
    let status = execute.status.clone().unwrap();
    assert_eq!((status.code(), status.message.as_str()), (StatusCode::Error, "exited 3"));
    assert_eq!(start.status.clone().unwrap_or_default().code(), StatusCode::Unset);
    let received = &receiver.received()[0];
    let head = received.head.to_lowercase();
    assert!(head.starts_with("post /v1/traces "), "{head}");
    assert!(
        head.contains("x-token: a secret") && head.contains("content-type: application/x-protobuf"),
        "{head}"
    );
    let resource = received.message.resource_spans[0].resource.clone().unwrap();
    let names: Vec<_> = resource.attributes.iter().map(|pair| pair.key.as_str()).collect();
    assert_eq!(names, ["deployment", "service.name"]);
    wait_until(SOON, "the delivery is recorded", || (export_state(&home)["delivered"] == 2).then_some(()));
}

#[test]
fn nothing_is_exported_when_disabled() {
    let receiver = Receiver::new(Manner::Takes);
    let ways = [
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
        ("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"),
    ];
    for (name, value) in ways {
        let home = home_of(&receiver).with_env(name, value);
        let id = home.start("true");
        home.ended(&id);
        home.wait_until_empty(SOON);
        assert_eq!(export_state(&home)["waiting"], 0, "{name}");
    }
    assert_eq!(receiver.received().len(), 0);
}

#[test]
fn spans_wait_for_an_unreachable_receiver_and_traces_says_so() {
    let address = format!("127.0.0.1:{}", free_port());
    let endpoint = format!("http://{address}");
    let home = home().with_env(ENDPOINT, &endpoint);
    let id = home.start("exit 3");
    assert_eq!(home.ended(&id)["exit_code"], 3);
    let state = wait_until(SOON, "the failure is recorded", || {
        Some(export_state(&home)).filter(|state| state["failures"].as_u64() > Some(0))
    });
    assert_eq!((&state["waiting"], &state["error"]), (&2.into(), &"connection refused".into()));
    let text = home.mw(["traces"]).ok();
    let expected = format!("2 spans wait for export: connection refused ({endpoint}/v1/traces); last tried ");
    assert!(text.contains(&expected), "{text}");
    let receiver = Receiver::listening(TcpListener::bind(address).unwrap(), Manner::Takes);
    // After a failure there is a pause; the first end after it exports everything.
    let mut endings = 1;
    wait_until(SOON, "the end of a task exports the waiting spans", || {
        home.ended(&home.start("true"));
        endings += 1;
        (!receiver.spans().is_empty()).then_some(())
    });
    home.wait_until_empty(SOON);
    home.mw(["traces", "--export"]).ok();
    let ids: BTreeSet<_> = receiver.spans().iter().map(|span| hex(&span.span_id)).collect();
    assert_eq!((receiver.spans().len(), ids.len()), (2 * endings, 2 * endings), "each span is sent once");
    assert_eq!(export_state(&home)["error"], Value::Null);
}

#[test]
fn a_receiver_that_never_answers_delays_no_command() {
    let receiver = Receiver::new(Manner::Silent);
    let home = home_of(&receiver).with_env("OTEL_EXPORTER_OTLP_TIMEOUT", "600000");
    let first = home.start("true");
    home.mw(["wait", &first]).ok();
    receiver.until_asked();
    let begun = Instant::now();
    for _ in 0..3 {
        let id = home.start("exit 3");
        let _ = home.mw(["wait", &id]).exits(3);
        assert_eq!(home.status(&id)["exit_code"], 3);
    }
    assert!(begun.elapsed() < Duration::from_secs(100), "{:?}", begun.elapsed());
    assert!(!settlers(&home).is_empty(), "an exporter is still running");
    wait_until(SOON, "only one exporter is left", || (settlers(&home).len() == 1).then_some(()));
}

#[test]
fn spans_of_a_killed_exporter_are_exported_by_the_next() {
    let receiver = Receiver::new(Manner::Silent);
    let home = home_of(&receiver).with_env("OTEL_EXPORTER_OTLP_TIMEOUT", "600000");
    let first = home.start("true");
    home.ended(&first);
    receiver.until_asked();
    let settler = wait_until(SOON, "an exporter runs", || settlers(&home).first().copied());
    home.kill_process(settler);
    receiver.behaves(Manner::Takes);
    let second = home.start("true");
    home.ended(&second);
    let spans = receiver.until_taken(4);
    let tasks: BTreeSet<_> = spans.iter().map(|span| attribute(span, "task.id")).collect();
    assert_eq!(tasks, BTreeSet::from([first, second]));
    assert_eq!(spans.len(), 4);
}

#[test]
fn spans_sent_but_not_recorded_are_sent_again() {
    let receiver = Receiver::new(Manner::Takes);
    let home = home_of(&receiver);
    let started = home.command(["start", "--json", "true"]).env("MEANWHILE_FAIL_AT", "spans-sent").run();
    let first = started.exits(0).json()["id"].as_str().unwrap().to_owned();
    home.ended(&first);
    receiver.until_taken(2);
    home.wait_until_empty(SOON);
    assert_eq!(export_state(&home)["waiting"], 2);
    home.ended(&home.start("true"));
    let spans = receiver.until_taken(6);
    let ids: BTreeSet<_> = spans.iter().map(|span| hex(&span.span_id)).collect();
    assert_eq!((spans.len(), ids.len()), (6, 4), "the same spans are sent again");
}

#[test]
fn concurrent_ends_export_each_span_once() {
    const TASKS: usize = 12;
    let receiver = Receiver::new(Manner::Takes);
    let home = home_of(&receiver).with_env("MEANWHILE_QUEUE_MAX_RUNNING", "20");
    let ids: Vec<_> = (0..TASKS).map(|_| home.start(&children::gated("go", 0))).collect();
    home.open("go");
    ids.iter().for_each(|id| drop(home.ended(id)));
    receiver.until_taken(2 * TASKS);
    home.wait_until_empty(SOON);
    let spans: BTreeSet<_> = receiver.spans().iter().map(|span| hex(&span.span_id)).collect();
    assert_eq!((receiver.spans().len(), spans.len()), (2 * TASKS, 2 * TASKS));
    assert_eq!(export_state(&home)["waiting"], 0);
}

#[test]
fn a_queued_task_is_exported_with_the_settings_of_its_start() {
    let receiver = Receiver::new(Manner::Takes);
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(&children::gated("go", 0));
    home.until_status(&first, "running");
    let started = home.command(["start", "--json", "true"]).env(ENDPOINT, &receiver.endpoint).run();
    let second = started.exits(0).json()["id"].as_str().unwrap().to_owned();
    home.open("go");
    home.ended(&second);
    let spans = receiver.until_taken(2);
    assert!(
        spans.iter().all(|span| attribute(span, "task.id") == second),
        "the first task must not be exported"
    );
}

#[test]
fn a_task_that_ends_in_the_queue_is_exported() {
    let receiver = Receiver::new(Manner::Takes);
    let home = home_of(&receiver).with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start("sleep 600");
    home.until_status(&first, "running");
    let waiting = home.start("true");
    home.mw(["kill", &waiting]).ok();
    let taken = wait_until(SOON, "the span of the task arrives", || {
        receiver.spans().into_iter().find(|span| attribute(span, "task.id") == waiting)
    });
    assert_eq!(
        (taken.name.as_str(), attribute(&taken, "task.status")),
        ("background_task_start", "cancelled".into())
    );
}

#[test]
fn a_task_that_ends_unobserved_is_exported() {
    let receiver = Receiver::new(Manner::Takes);
    let home = home_of(&receiver);
    let id = home.start("exec sleep 600");
    home.until_status(&id, "running");
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    home.kill_process(pid);
    let task = home.ended(&id);
    let spans = receiver.until_taken(2);
    let execute = spans.iter().find(|span| hex(&span.span_id) == task["span_id"].as_str().unwrap()).unwrap();
    assert_eq!(attribute(execute, "task.status"), task["status"].as_str().unwrap());
    assert_eq!(execute.status.clone().unwrap().code(), StatusCode::Error);
}

#[test]
fn waiting_spans_outlive_their_task_and_are_exported_later() {
    let receiver = Receiver::new(Manner::Busy);
    let home = home_of(&receiver).with_env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20topsecret");
    let id = home.start("true");
    home.ended(&id);
    let state = wait_until(SOON, "the failure is recorded", || {
        Some(export_state(&home)).filter(|state| state["failures"].as_u64() > Some(0))
    });
    assert_eq!(state["error"], "HTTP 503 Service Unavailable: come back later");
    home.wait_until_empty(SOON);
    home.mw(["clear", &id]).ok();
    let refused = home.mw(["traces", "--export"]).exits(1);
    assert!(refused.text().contains("2 spans wait for export: HTTP 503"), "{refused:?}");
    assert!(!format!("{refused:?}{state}").contains("topsecret"));
    receiver.behaves(Manner::Takes);
    assert_eq!(home.mw(["traces", "--export"]).ok(), "2 spans delivered\n");
    let tasks: Vec<_> = receiver.spans().iter().map(|span| attribute(span, "task.id")).collect();
    assert_eq!(tasks, [id.clone(), id]);
    assert_eq!(home.mw(["traces"]).ok(), "No traces.\n2 spans delivered\n");
}

#[test]
fn spans_rejected_by_the_receiver_are_counted() {
    let receiver = Receiver::new(Manner::Picky);
    let home = home_of(&receiver);
    home.ended(&home.start("true"));
    receiver.until_taken(2);
    home.wait_until_empty(SOON);
    let state = export_state(&home);
    assert_eq!(
        (&state["waiting"], &state["delivered"], &state["rejected"]),
        (&0.into(), &1.into(), &1.into())
    );
    assert!(home.mw(["traces"]).ok().contains("1 span rejected by the receiver: one too many"));
}

#[test]
fn an_unsupported_protocol_is_named() {
    let receiver = Receiver::new(Manner::Takes);
    let home = home_of(&receiver).with_env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    home.ended(&home.start("true"));
    let text = wait_until(SOON, "the problem is reported", || {
        Some(home.mw(["traces"]).ok()).filter(|text| text.contains("use http/protobuf"))
    });
    assert!(text.contains("OTEL_EXPORTER_OTLP_PROTOCOL=grpc"), "{text}");
    assert_eq!(receiver.received().len(), 0);
    let _ = home.command(["traces", "--export", "--json"]).without(ENDPOINT).run().refusal(2);
}

#[test]
fn no_span_shows_a_secret() {
    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let receiver = Receiver::new(Manner::Takes);
    let home = home_of(&receiver);
    let id = home.start(&format!("echo {TOKEN} >/dev/null; echo hunter22"));
    home.ended(&id);
    for span in receiver.until_taken(2) {
        let command = attribute(&span, "task.command");
        assert!(!command.contains(TOKEN) && command.contains("[redacted:"), "{command}");
    }
    let shown = home.mw(["traces", "--json", "--span", &id]).exits(0).json().to_string();
    assert!(!shown.contains(TOKEN) && shown.contains("[redacted:"), "{shown}");
}

#[test]
fn no_span_shows_a_secret_variable_of_a_removed_task() {
    const VALUE: &str = "tr0mb0ne-and-drum";
    let receiver = Receiver::new(Manner::Busy);
    let home = home_of(&receiver);
    // The second secret is at the point where the text is shortened.
    let script = format!("echo {VALUE} >/dev/null # {:>4040} {VALUE}", "");
    let start = |home: &Home| {
        let variable = format!("DB_TOKEN={VALUE}");
        let started = home.mw(["start", "--json", "--env", &variable, &script]).exits(0).json();
        let id = started["id"].as_str().unwrap().to_owned();
        home.ended(&id);
        id
    };
    let (kept, cleared) = (start(&home), start(&home));
    home.wait_until_empty(SOON);
    home.mw(["clear", &cleared]).ok();
    receiver.behaves(Manner::Takes);
    home.mw(["traces", "--export"]).ok();
    let spans = receiver.until_taken(4);
    assert_eq!(spans.len(), 4);
    for span in spans {
        let (task, command) = (attribute(&span, "task.id"), attribute(&span, "task.command"));
        assert!(!format!("{span:?}").contains("tr0m"), "{span:?}");
        let mark = if task == kept { "[redacted:environment]" } else { "[redacted:unreadable-environment]" };
        assert!(command.contains(mark), "{command}");
        assert_eq!(attribute(&span, "task.approved_by"), "user");
    }
}

#[test]
fn spans_are_sent_over_tls_to_a_trusted_receiver() {
    let (receiver, certificate) = Receiver::secure(Manner::Takes);
    let home = home_of(&receiver);
    let path = home.user().join("receiver.pem");
    fs::write(&path, certificate).unwrap();
    let trusting = home.with_env("OTEL_EXPORTER_OTLP_CERTIFICATE", &path);
    let id = trusting.start("exit 3");
    trusting.ended(&id);
    assert_eq!(receiver.until_taken(2).len(), 2);
}

#[test]
fn a_receiver_with_an_untrusted_certificate_gets_nothing() {
    let (receiver, _) = Receiver::secure(Manner::Takes);
    let home = home_of(&receiver);
    let id = home.start("exit 3");
    home.ended(&id);
    let state = wait_until(SOON, "the delivery is refused", || {
        Some(export_state(&home)).filter(|state| state["error"].is_string())
    });
    assert_eq!(state["waiting"], 2, "{state}");
    assert!(receiver.received().is_empty());
    let broken = home.with_env("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nonexistent.pem");
    let refused = broken.mw(["traces", "--export"]).exits(1);
    let said = String::from_utf8_lossy(&refused.stdout);
    assert!(said.contains("/nonexistent.pem"), "{said}");
}
