//! The order of services: each one comes after those that it depends on.

use super::service::Service;

/// Sorts services so that each one comes after those that it depends on, and otherwise keeps their order.
///
/// # Errors
/// When a service depends on an unknown one, or on itself.
pub(super) fn in_order(services: Vec<Service>) -> Result<Vec<Service>, String> {
    for service in &services {
        let is_unknown = |name: &&String| !services.iter().any(|other| other.name == **name);
        if let Some(unknown) = service.depends_on.iter().find(is_unknown) {
            return Err(format!("service {} depends on {unknown:?}, which is not declared", service.name));
        }
    }
    let mut left = services;
    let mut sorted: Vec<Service> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_sorted = |name: &String| sorted.iter().any(|other| other.name == *name);
        let next = left.iter().position(|service| service.depends_on.iter().all(is_sorted));
        let Some(next) = next else { return Err(cycle(&left)) };
        sorted.push(left.remove(next));
    }
    Ok(sorted)
}

/// Describes the cycle among services each of which depends on another one.
fn cycle(services: &[Service]) -> String {
    let named = |name: &str| services.iter().find(|service| service.name == name);
    let mut path: Vec<&str> = services.first().map(|service| service.name.as_str()).into_iter().collect();
    while let Some(service) = path.last().and_then(|last| named(last)) {
        let Some(next) = service.depends_on.iter().find(|name| named(name).is_some()) else { break };
        if let Some(at) = path.iter().position(|seen| seen == next) {
            path.drain(..at);
            path.push(next);
            break;
        }
        path.push(next);
    }
    format!("services depend on each other: {}", path.join(" needs "))
}

/// Returns the services of these names with all that they depend on, in their order; all if there are no names.
///
/// # Errors
/// The name that is not declared.
pub(super) fn chosen<'a>(services: &'a [Service], names: &[String]) -> Result<Vec<&'a Service>, String> {
    if names.is_empty() {
        return Ok(services.iter().collect());
    }
    let is_declared = |name: &&String| services.iter().any(|service| service.name == **name);
    if let Some(unknown) = names.iter().find(|name| !is_declared(name)) {
        return Err(format!("there is no service {unknown:?}"));
    }
    let mut wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    // Backwards, every service comes before those that it depends on.
    for service in services.iter().rev() {
        if wanted.contains(&service.name.as_str()) {
            wanted.extend(service.depends_on.iter().map(String::as_str));
        }
    }
    Ok(services.iter().filter(|service| wanted.contains(&service.name.as_str())).collect())
}

#[cfg(test)]
mod tests {
    use super::super::service::ServiceCommand;
    use super::*;

    fn service(name: &str, depends_on: &[&str]) -> Service {
        Service {
            name: name.to_owned(),
            command: ServiceCommand::Script("true".to_owned()),
            dir: "/".into(),
            env: Vec::new(),
            depends_on: depends_on.iter().map(ToString::to_string).collect(),
            options: Vec::new(),
        }
    }

    fn names<'a>(services: impl IntoIterator<Item = &'a Service>) -> Vec<&'a str> {
        services.into_iter().map(|service| service.name.as_str()).collect()
    }

    #[test]
    fn each_service_comes_after_those_that_it_depends_on() {
        let services =
            vec![service("a", &["c", "d"]), service("b", &[]), service("c", &["d"]), service("d", &[])];
        let sorted = in_order(services).unwrap();
        assert_eq!(names(&sorted), ["b", "d", "c", "a"]);
        assert_eq!(names(chosen(&sorted, &["c".to_owned()]).unwrap()), ["d", "c"]);
        assert_eq!(chosen(&sorted, &[]).unwrap().len(), 4);
        assert!(chosen(&sorted, &["x".to_owned()]).unwrap_err().contains("\"x\""));
    }

    #[test]
    fn cycles_and_unknown_names_are_refused() {
        let refused = |services| in_order(services).unwrap_err();
        let cycle = refused(vec![
            service("x", &["a"]),
            service("a", &["b"]),
            service("b", &["a"]),
            service("c", &[]),
        ]);
        assert_eq!(cycle, "services depend on each other: a needs b needs a");
        assert!(refused(vec![service("a", &["a"])]).ends_with("a needs a"));
        assert!(refused(vec![service("a", &["z"])]).contains("\"z\""));
    }
}
