//! The registry: aliases, tools of the host, variants, and disabling.

use mw_tools::call::{Background, Reply};
use mw_tools::dialects::DialectTools;
use mw_tools::{CustomTool, Dialect, Format, RegistryError, ToolClass, ToolSpec, Toolset};
use serde_json::{Value, json};

use crate::world::World;

fn custom(name: &str) -> CustomTool {
    let spec = ToolSpec {
        name: name.to_owned(),
        title: "Mine".to_owned(),
        description: "The host's own run_in_background.".to_owned(),
        input_schema: json!({"type": "object", "properties": {"run_in_background": {"type": "boolean"}}}),
        output_schema: None,
        class: None,
    };
    CustomTool { spec, run: Box::new(|given, _| Reply::new("mine".to_owned(), json!({"given": given}))) }
}

fn names(tools: &Toolset, background: Background) -> Vec<String> {
    tools.specs(background).into_iter().map(|spec| spec.name).collect()
}

/// Finds missing defaults and misspelt fields in definitions and reply schemas.
#[test]
fn every_tool_is_described_completely() {
    const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];
    for definition in Dialect::ALL.into_iter().flat_map(|dialect| DialectTools::of(dialect).definitions) {
        let name = definition.tool.name;
        assert!(!name.is_empty() && !definition.title.is_empty() && !definition.about.is_empty(), "{name}");
        for field in definition.reply.split(", ") {
            let (_, kinds) = field.split_once(": ").unwrap_or_else(|| panic!("{name}: {field:?}"));
            assert!(kinds.split('|').all(|kind| TYPES.contains(&kind)), "{name}: {field:?}");
        }
    }
}

#[test]
fn a_disabled_background_flag_is_not_in_schema_or_description() {
    for dialect in Dialect::ALL {
        let tools = Toolset::of(dialect);
        for spec in tools.specs(Background::Off) {
            let text = spec.to_json(Format::Mcp)["inputSchema"].to_string() + &spec.description;
            for word in ["background", "notification", "TaskOutput", "task_wait", "poll", "pty"] {
                assert!(!text.contains(word), "{dialect:?} {}: {word}", spec.name);
            }
        }
    }
    let left = |dialect| names(&Toolset::of(dialect), Background::Off);
    assert_eq!(left(Dialect::Canonical), ["shell"]);
    assert_eq!(left(Dialect::Zidane), ["shell"]);
    assert_eq!(left(Dialect::Mycode), ["Bash"]);
    for dialect in [Dialect::BackgroundTask, Dialect::Opta, Dialect::CoCli] {
        assert_eq!(left(dialect), [""; 0], "{dialect:?}");
    }
}

#[test]
fn a_disabled_background_flag_is_refused_and_starts_nothing() {
    for (dialect, tool) in
        [(Dialect::Canonical, "shell"), (Dialect::Zidane, "shell"), (Dialect::Mycode, "Bash")]
    {
        let mut world = World::new(dialect);
        world.call_settings.background = Background::Off;
        for flag in [json!(true), json!("true")] {
            let reply = world.refused(tool, json!({"command": "touch ran", "run_in_background": flag}));
            assert!(reply.text.contains("disabled") && reply.text.contains("run_in_background"));
        }
        assert!(!world.home.has_file("ran"), "no silent foreground run");
        assert_eq!(world.tasks().len(), 0, "no task is left");
        // The foreground works, and a flag that is false is accepted.
        let reply = world.done(tool, json!({"command": "echo hi", "run_in_background": false}));
        assert_eq!(reply.data["output"], "hi\n");
    }
    let mut world = World::new(Dialect::Canonical);
    world.call_settings.background = Background::Off;
    let cx = mw_tools::call::CallContext::new(
        &world.runtime,
        &world.call_settings,
        &mw_tools::call::PatientCaller,
    );
    let given = json!({"task_ids": ["x"]});
    assert!(world.tools.call("task_wait", given.as_object().unwrap(), &cx).is_none());
    assert!(world.tools.call("nonsense", given.as_object().unwrap(), &cx).is_none());
}

#[test]
fn a_tool_variant_overrides_the_background_setting() {
    let mut world = World::new(Dialect::Canonical);
    world.tools = Toolset::of(Dialect::Canonical).with_variant("shell", Background::Off).unwrap();
    let specs = world.tools.specs(Background::On);
    assert_eq!(specs.len(), 9);
    assert_eq!(specs[0].input_schema["properties"]["run_in_background"], Value::Null);
    assert!(!specs[0].description.contains("background"));
    let reply = world.refused("shell", json!({"command": "true", "run_in_background": true}));
    assert!(reply.text.contains("disabled"), "{}", reply.text);
    // The reverse works too.
    world.call_settings.background = Background::Off;
    world.tools = Toolset::of(Dialect::Zidane).with_variant("shell", Background::On).unwrap();
    assert_eq!(names(&world.tools, Background::Off), ["shell"]);
    let reply = world.done("shell", json!({"command": "true", "run_in_background": true}));
    assert_eq!(reply.data["task_id"], "bash_1");
    let none = Toolset::of(Dialect::Opta).with_variant("shell", Background::Off).err();
    assert_eq!(none, Some(RegistryError::NoSuchTool("shell".to_owned())));
}

#[test]
fn a_tool_of_the_host_is_left_unchanged() {
    let mut world = World::new(Dialect::Zidane);
    world.tools = Toolset::of(Dialect::Zidane).with(custom("shell")).unwrap();
    for background in [Background::On, Background::Off] {
        let specs = world.tools.specs(background);
        let mine = specs.iter().find(|spec| spec.name == "shell").unwrap();
        assert_eq!(*mine, custom("shell").spec);
        assert_eq!(mine.to_json(Format::Mcp)["annotations"], Value::Null);
    }
    world.call_settings.background = Background::Off;
    let reply = world.done("shell", json!({"command": "touch ran", "run_in_background": true}));
    assert_eq!(reply.text, "mine");
    assert!(!world.home.has_file("ran"));
    let twice = Toolset::of(Dialect::Zidane).with(custom("x")).unwrap().with(custom("x")).err();
    assert_eq!(twice, Some(RegistryError::NameTaken("x".to_owned())));
}

/// Z-125: a tool with alias `OldName` is run when called by it.
#[test]
fn an_alias_is_dispatched_and_never_offered() {
    let mut world = World::new(Dialect::Canonical);
    world.tools = Toolset::of(Dialect::Canonical)
        .with_alias("OldName", "task_list")
        .unwrap()
        .with_alias("OldName", "task_list")
        .unwrap();
    let reply = world.done("OldName", json!({}));
    assert_eq!(reply.text, "No tasks.");
    assert!(!names(&world.tools, Background::On).contains(&"OldName".to_owned()));
}

#[test]
fn an_alias_never_hides_a_tool() {
    let tools = || Toolset::of(Dialect::Canonical);
    let hides = |name: &str| Some(RegistryError::AliasHidesTool(name.to_owned()));
    assert_eq!(tools().with_alias("shell", "task_list").err(), hides("shell"));
    assert_eq!(tools().with_alias("x", "y").err(), Some(RegistryError::NoSuchTool("y".to_owned())));
    let twice = tools().with_alias("x", "shell").unwrap().with_alias("x", "task_list").err().unwrap();
    assert_eq!(twice.to_string(), r#"the alias "x" already means "shell" and cannot also mean "task_list""#);
    assert_eq!(tools().with_alias("mine", "shell").unwrap().with(custom("mine")).err(), hides("mine"));
    assert_eq!(tools().with_alias("bg_kill", "shell").unwrap().and(Dialect::Opta).err(), hides("bg_kill"));
    // Removing a tool removes its aliases.
    let without = tools().with_alias("x", "task_list").unwrap().without("task_list").unwrap();
    assert!(without.with(custom("x")).is_ok());
    assert!(tools().without("x").is_err());
}

#[test]
fn dialects_share_a_registry_and_its_tasks() {
    let mut world = World::new(Dialect::Opta);
    let tools = Toolset::of(Dialect::Opta).and(Dialect::CoCli).unwrap().and(Dialect::BackgroundTask).unwrap();
    world.tools = tools.and(Dialect::Mycode).unwrap().and(Dialect::Zidane).unwrap();
    assert_eq!(names(&world.tools, Background::On).len(), 20);
    let twice = Toolset::of(Dialect::Zidane).and(Dialect::Canonical).err();
    assert_eq!(twice, Some(RegistryError::NameTaken("shell".to_owned())));
    // A task of one dialect is found by all, by any of its ids.
    let task = world.finished("echo out");
    for dialect in Dialect::ALL {
        let handle = dialect.handle(&task);
        for (tool, name) in [
            ("bg_output", "id"),
            ("check_task_status", "task_id"),
            ("background_output", "task_id"),
            ("TaskOutput", "task_id"),
            ("shell_kill", "task_id"),
        ] {
            world.done(tool, json!({name: handle}));
        }
    }
}

#[test]
fn annotations_describe_the_effect_of_each_tool() {
    let hints = |dialect, name: &str| {
        let specs = Toolset::of(dialect).specs(Background::On);
        let spec = specs.into_iter().find(|spec| spec.name == name).unwrap();
        spec.to_json(Format::Mcp)["annotations"].clone()
    };
    for dialect in Dialect::ALL {
        for spec in Toolset::of(dialect).specs(Background::On) {
            let has = |name: &str| spec.input_schema["properties"][name].is_object();
            let runs = has("command") || has("prompt") || has("message");
            let class = spec.class.unwrap();
            assert_eq!(matches!(class, ToolClass::Starts | ToolClass::Delegates), runs, "{}", spec.name);
            let name = spec.name.to_lowercase();
            let ends = ["kill", "stop", "cancel", "clear"].iter().any(|word| name.contains(word));
            assert_eq!(matches!(class, ToolClass::Kills | ToolClass::Clears), ends, "{}", spec.name);
        }
    }
    assert_eq!(hints(Dialect::Opta, "bg_status")["readOnlyHint"], true);
    assert_eq!(hints(Dialect::Opta, "bg_start")["destructiveHint"], true);
    assert_eq!(hints(Dialect::Opta, "bg_kill")["idempotentHint"], true);
    assert_eq!(hints(Dialect::Canonical, "task_input")["readOnlyHint"], false);
}
