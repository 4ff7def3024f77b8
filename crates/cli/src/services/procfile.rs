//! A `Procfile`: `NAME: COMMAND` per line.

use std::path::Path;

use super::service::{Service, ServiceCommand};

/// Reads the services of a file in this directory.
///
/// # Errors
/// The number of the line that is not a service, and why.
pub(super) fn read(text: &str, directory: &Path) -> Result<Vec<Service>, (usize, String)> {
    let mut services: Vec<Service> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let refused = |why: String| Err((index + 1, why));
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, command)) = line.split_once(':') else {
            return refused("this is not NAME: COMMAND".to_owned());
        };
        let (name, command) = (name.trim_end(), command.trim());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(is_plain) {
            return refused(format!(
                "{name:?} cannot be the name of a service: use letters, digits, - and _"
            ));
        }
        if services.iter().any(|service| service.name == name) {
            return refused(format!("there are two services {name:?}"));
        }
        services.push(Service {
            name: name.to_owned(),
            command: ServiceCommand::Script(command.to_owned()),
            dir: directory.to_owned(),
            env: Vec::new(),
            depends_on: Vec::new(),
            options: Vec::new(),
        });
    }
    Ok(services)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_a_script() {
        let text = "# all\nweb: PORT=3000 npm run dev -- --x: y\n\n worker-2:./work  \n";
        let services = read(text, Path::new("/p")).unwrap();
        let found: Vec<_> =
            services.iter().map(|service| (service.name.as_str(), &service.command)).collect();
        let script = |text: &str| ServiceCommand::Script(text.to_owned());
        let (web, worker) = (script("PORT=3000 npm run dev -- --x: y"), script("./work"));
        assert_eq!(found, [("web", &web), ("worker-2", &worker)]);
        for (bad, line) in [("web", 1), ("a: b\na b: c", 2), (": x", 1), ("a: b\na: c", 2)] {
            assert_eq!(read(bad, Path::new("/p")).map_err(|(line, _)| line), Err(line), "{bad}");
        }
    }
}
