//! Our own agent, asked by our own driver, with a scripted model behind it.

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};

use crate::world::World;

#[test]
fn our_own_agent_answers_and_is_resumed() {
    let endpoint = ModelEndpoint::new();
    endpoint.otherwise(|_| Answer::text("hi there"));
    let world = World::with(|home| {
        home.with_env("OPENAI_BASE_URL", endpoint.openai_url())
            .with_env("OPENAI_API_KEY", "sk-test-0123456789")
            .with_env("MEANWHILE_AGENT_MODEL", "openai/scripted")
    });
    let id = world.ask_with(&["--agent", "mw"], "say hi");
    let task = world.completed(&id);
    assert_eq!(task["agent"]["answer"], "hi there", "{task}");
    world.resume(&id, "and again");
    let task = world.completed(&id);
    assert_eq!((&task["agent"]["answer"], &task["resume_count"]), (&"hi there".into(), &1.into()), "{task}");
    let asked = endpoint.requests().last().unwrap().body.to_string();
    assert!(asked.contains("say hi") && asked.contains("and again"), "the whole conversation: {asked}");
}
