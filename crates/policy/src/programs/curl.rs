//! curl and wget: fetching and printing is allowed, everything else needs approval.

use mw_model::NetworkGrant;

use super::options::{Given, Options, read};
use super::{Call, loopback};
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::need;
use crate::script::word::Word;

/// Options of curl with a value that is not checked.
const CURL_VALUED: &str = "
    -A -m -r -e --user-agent --max-time --connect-timeout --retry --retry-delay --retry-max-time --range
    --referer --max-redirs --limit-rate
";
/// Options of curl with a value that is checked.
const CURL_JUDGED: &str = "-H --header -o --output -w --write-out --url -X --request";
/// Options of curl without a value.
const CURL_PLAIN: &str = "
    -s -S -f -L -i -I -v -k -4 -6 -N -# -g -q --silent --show-error --fail --fail-with-body --location
    --include --head --verbose --insecure --compressed --no-buffer --progress-bar --http1.1 --http2 --ipv4
    --ipv6 --retry-connrefused --globoff --version
";

/// Addresses of cloud services that return credentials.
const METADATA: Names<'_> = Names("169.254.169.254 metadata.google.internal 100.100.100.200 fd00:ec2");

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "curl" => curl(judge, call),
        "wget" => wget(judge, call),
        "dig" | "host" | "nslookup" | "ping" | "ping6" | "traceroute" | "whois" => lookup(judge, call),
        _ => return false,
    }
    true
}

fn hosts(options: &Options<'_>) -> String {
    let hosts: Vec<String> = options.operands.iter().map(|word| host(&word.text)).collect();
    if hosts.is_empty() { "another machine".to_owned() } else { hosts.join(", ") }
}

fn host(url: &str) -> String {
    let rest = url.trim_matches(['"', '\'']).split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest).to_owned()
}

fn exchanges(judge: &mut Judge<'_>, call: &Call<'_>, options: &Options<'_>, why: &str) {
    let effect = format!("exchanges data with {}", hosts(options));
    judge.ask(BuiltinRule::Network, &call.part, why, &effect);
}

/// Returns whether all addresses are of this machine; then the command gets no other network.
fn stays_local(judge: &mut Judge<'_>, call: &Call<'_>, valued: &str) -> bool {
    let options = read(call.args, valued);
    let urls = options.operands.iter().copied().filter(|word| !word.is_option());
    let local = judge.is_confined() && !options.operands.is_empty() && urls.clone().all(loopback::is_local);
    if local {
        judge.needs_loopback();
        for given in &options.given {
            let Some(word) = given.word() else { continue };
            match given.name.as_str() {
                "-o" | "--output" | "-O" | "--output-document" | "-c" | "--cookie-jar" => {
                    judge.write_unless_printed(&word, &call.part);
                }
                _ => {
                    // `-d @file`, and `-F name=@file`.
                    let file =
                        word.lit().and_then(|text| text.split_once('@')).map(|(_, file)| file.to_owned());
                    file.into_iter().for_each(|file| judge.read_from(&file, &call.part));
                }
            }
        }
        if options.given.iter().any(|given| given.name == "-O" && given.word().is_none()) {
            judge.write_to("./download", &call.part);
        }
    }
    local
}

fn curl(judge: &mut Judge<'_>, call: &Call<'_>) {
    let any = format!(
        "{CURL_VALUED} {CURL_JUDGED} -d --data --data-raw --data-binary --data-urlencode --json -F --form -T -u --user -b -c --cookie --cookie-jar -K --config -x"
    );
    if stays_local(judge, call, &any) {
        return;
    }
    judge.fetched = true;
    judge.needs(need::network(NetworkGrant::Full));
    if judge.hidden_option(call) {
        return;
    }
    let valued = format!("{CURL_VALUED} {CURL_JUDGED}");
    let options = read(call.args, &valued);
    let saves =
        if judge.is_confined() { "-O --remote-name -J --remote-header-name --create-dirs -C" } else { "" };
    if let Some(given) = options.other_than(&format!("{valued} {CURL_PLAIN} {saves}")) {
        let why = format!("{} can send data, write files or change the source", given.name);
        return exchanges(judge, call, &options, &why);
    }
    if judge.is_confined() && options.has("-O --remote-name -J --remote-header-name") {
        judge.write_to("./download", &call.part);
    }
    for given in &options.given {
        let value = given.word();
        if judge.is_confined() && matches!(given.name.as_str(), "-o" | "--output") {
            // The response is written into the project, or the question names the file.
            if value.as_ref().is_some_and(|word| word.lit() != Some("-")) {
                value.iter().for_each(|word| judge.write(word, &call.part));
            }
            continue;
        }
        let Some(value) = value.as_ref() else { continue };
        let text = value.lit();
        let bad = match given.name.as_str() {
            "-X" | "--request" => !matches!(text, Some("GET" | "HEAD" | "OPTIONS")),
            "-o" | "--output" => !matches!(text, Some("/dev/null" | "-")),
            "-H" | "--header" => text.is_none_or(|text| text.starts_with('@') || is_private(text)),
            "-w" | "--write-out" => text.is_none_or(|text| text.starts_with('@') || text.contains("output{")),
            "--url" => !is_harmless_url(value),
            _ => text.is_none(),
        };
        if bad {
            let (why, effect) = match given.name.as_str() {
                "-o" | "--output" => (
                    format!("{} writes the response to a file", given.name),
                    format!("writes the response of {} to {}", hosts(&options), value.text),
                ),
                name => (
                    format!("{name} {} does more than fetch and print", value.text),
                    format!("sends data to {}", hosts(&options)),
                ),
            };
            judge.ask(BuiltinRule::Network, &call.part, &why, &effect);
        }
    }
    urls(judge, call, &options);
}

fn urls(judge: &mut Judge<'_>, call: &Call<'_>, options: &Options<'_>) {
    for word in &options.operands {
        if !is_harmless_url(word) {
            let why = format!("{} is not a plain web address", word.text);
            judge.ask(BuiltinRule::Network, &call.part, &why, &format!("sends data to {}", host(&word.text)));
        }
    }
}

fn is_harmless_url(word: &Word) -> bool {
    // `?` and `[` are common in URLs. A shell does not change them if no file matches.
    let Some([url]) = word.values().filter(|_| !word.ambiguous) else { return false };
    let rest = match url.split_once("://") {
        Some(("http" | "https", rest)) => rest,
        Some(_) => return false,
        None => url,
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default().to_lowercase();
    !host.is_empty()
        && !host.contains('@')
        && !url.contains(['{', '}', '\\'])
        && !is_disguised_number(&host)
        && !METADATA.iter().any(|address| host.contains(address))
}

/// Returns whether a header may contain credentials.
fn is_private(header: &str) -> bool {
    let header = header.to_lowercase();
    ["auth", "cookie", "token", "key", "secret"].iter().any(|word| header.contains(word))
}

/// Returns whether a host is an IP address in an unusual notation.
fn is_disguised_number(host: &str) -> bool {
    if host.contains("a9fe") {
        return true;
    }
    let host = host.split(':').next().unwrap_or(host);
    let hides = |part: &str| part.len() > 1 && part.starts_with('0');
    let number = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_digit());
    let dotted =
        host.contains('.') && host.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    number || host.starts_with("0x") || dotted && (host.split('.').any(hides) || host.split('.').count() != 4)
}

fn wget(judge: &mut Judge<'_>, call: &Call<'_>) {
    let any = "-O -T -t -U -P --output-document --timeout --tries --user-agent --directory-prefix --post-data --header";
    if stays_local(judge, call, any) {
        return;
    }
    judge.fetched = true;
    judge.needs(need::network(NetworkGrant::Full));
    if judge.hidden_option(call) {
        return;
    }
    let valued = "-O -T -t -U -P --output-document --timeout --tries --user-agent --directory-prefix";
    let options = read(call.args, valued);
    let known = "
        -q -S -O -T -t -U -v -4 -6 --quiet --spider --server-response --output-document --timeout --tries
        --user-agent --no-verbose --no-check-certificate --version
    ";
    let saves = if judge.is_confined() {
        "-P --directory-prefix -nc -n -c -N -x --show-progress --no-clobber --continue"
    } else {
        ""
    };
    if let Some(given) = options.other_than(&format!("{known} {saves}")) {
        let why = format!("{} can send data, write files or run programs", given.name);
        return exchanges(judge, call, &options, &why);
    }
    let mut targets = options.all("-O --output-document").map(Given::word).peekable();
    let printed = |target: Option<Word>| {
        target.is_some_and(|word| matches!(word.lit(), Some("-" | "/dev/null" | "/dev/stdout")))
    };
    let prints = targets.peek().is_some() && targets.all(printed);
    if !prints && judge.is_confined() {
        let places = options.all("-O --output-document -P --directory-prefix").filter_map(Given::word);
        let mut places: Vec<Word> = places.collect();
        if places.is_empty() {
            places.push(Word::plain("./download"));
        }
        places.iter().for_each(|place| judge.write(place, &call.part));
    } else if !prints && !options.has("--spider --version") {
        let effect = format!("writes the response of {} to a file", hosts(&options));
        judge.ask(BuiltinRule::Network, &call.part, "it writes the response to a file", &effect);
    }
    urls(judge, call, &options);
}

fn lookup(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.is_confined()
        && read(call.args, "-c -W -w -i -t -n").operands.iter().all(|word| loopback::is_local(word))
    {
        return judge.needs_loopback();
    }
    judge.needs(need::network(NetworkGrant::Full));
    let plain = |word: &Word| word.lit().is_some_and(|text| text.len() <= 80 && !text.starts_with('@'));
    let options = read(call.args, "-c -W -w -i -t -n");
    if !call.args.iter().all(plain) || options.has("-f -k -s") {
        let effect = "sends a name to other machines";
        judge.ask(BuiltinRule::Network, &call.part, "the requested name can carry data", effect);
    }
}

impl Judge<'_> {
    /// Asks about a write, unless the file `-` stands for the standard output.
    fn write_unless_printed(&mut self, word: &Word, part: &str) {
        if word.lit() != Some("-") {
            self.write(word, part);
        }
    }
}
