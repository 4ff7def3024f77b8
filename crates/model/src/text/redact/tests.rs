use proptest::prelude::*;

use super::*;

/// Redacts a text as the library does, for texts without control sequences.
fn redacted(text: &str, edge: Edge) -> String {
    let mut out = Vec::new();
    let mut at = 0;
    for secret in find_secrets(text.as_bytes(), edge) {
        out.extend_from_slice(&text.as_bytes()[at..secret.start]);
        out.extend_from_slice(redaction_mark(secret.kind).as_bytes());
        at = secret.end;
    }
    out.extend_from_slice(&text.as_bytes()[at..]);
    String::from_utf8_lossy(&out).into_owned()
}

fn key(word: &str) -> String {
    format!(
        "-----BEGIN {word}PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0\nq1Zx+/Q==\n-----END {word}PRIVATE KEY-----"
    )
}

/// Returns letters and digits. Secrets are built at run time because scanners of repositories would report literals.
fn alnum(len: usize) -> String {
    "aB3dE5gH1jK2mN4pQ6sT8vW0yZ".chars().cycle().take(len).collect()
}

#[test]
fn secrets_with_a_known_format_are_redacted() {
    let long = alnum(48);
    let table = [
        ("AKIAIOSFODNN7EXAMPLE".to_owned(), "aws-key"),
        (format!("ghp_{}", alnum(36)), "github-token"),
        (format!("gho_{}", alnum(36)), "github-token"),
        (format!("github_pat_{}_{}", alnum(22), alnum(59)), "github-token"),
        (format!("glpat-{}", alnum(20)), "gitlab-token"),
        (format!("xoxb-123456789012-{}", alnum(24)), "slack-token"),
        (format!("sk-{long}"), "api-key"),
        (format!("sk-proj-{long}"), "openai-key"),
        (format!("sk-ant-api03-{long}-{long}"), "anthropic-key"),
        (format!("AIza{}", alnum(35)), "google-key"),
        (format!("sk_live_{}", alnum(24)), "stripe-key"),
        (format!("eyJhbGciOiJIUzI1NiJ9.{long}.{long}"), "jwt"),
        (key(""), "private-key"),
        (key("RSA "), "private-key"),
        (key("OPENSSH "), "private-key"),
    ];
    for (secret, kind) in table {
        let mark = redaction_mark(kind);
        for (text, wanted) in [
            (secret.clone(), mark.clone()),
            (format!("see {secret}, then\n"), format!("see {mark}, then\n")),
            (format!("url?x={secret}&y=1"), format!("url?x={mark}&y=1")),
            (format!("\"{secret}\""), format!("\"{mark}\"")),
            (format!("é{secret}\0"), format!("é{mark}\0")),
        ] {
            assert_eq!(redacted(&text, Edge::Closed), wanted, "{text}");
        }
    }
}

#[test]
fn secrets_are_recognised_by_the_preceding_text() {
    let table = [
        ("password=hunter2", "password=[redacted:password]"),
        ("mysql --password=hunter2 -u me", "mysql --password=[redacted:password] -u me"),
        ("tool --password hunter2 --verbose", "tool --password [redacted:password] --verbose"),
        ("tool --api-key 'a1b2c3 d4'", "tool --api-key '[redacted:secret]'"),
        ("tool --token=abcdefgh", "tool --token=[redacted:secret]"),
        ("export API_KEY=abcdef12; make", "export API_KEY=[redacted:secret]; make"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=[redacted:secret]"),
        ("{\"apiKey\": \"abcdef12\", \"a\": 1}", "{\"apiKey\": \"[redacted:secret]\", \"a\": 1}"),
        ("{\\\"password\\\":\\\"abcdef\\\"}", "{\\\"password\\\":\\\"[redacted:password]\\\"}"),
        ("client_secret: f00-ba7-x", "client_secret: [redacted:secret]"),
        ("password = \"correct horse\"", "password = \"[redacted:password]\""),
        ("?access_token=abc123&x=1", "?access_token=[redacted:secret]&x=1"),
        ("Authorization: Bearer abc.def.ghi", "Authorization: Bearer [redacted:authorization]"),
        (
            "curl -H 'authorization: Basic dXNlcjpwYXNz' x",
            "curl -H 'authorization: Basic [redacted:authorization]' x",
        ),
        ("\"Authorization\": \"token abcdef1\"", "\"Authorization\": \"token [redacted:authorization]\""),
        ("postgres://me:hunter2@db:5432/x", "postgres://me:[redacted:password]@db:5432/x"),
        ("https://x:p@ss@host/", "https://x:[redacted:password]@host/"),
        ("x://ghp_aB3dE5gH1jK2mN4pQ6sT8vW0yZaB3dE5:x@h", "x://[redacted:github-token]:[redacted:password]@h"),
        ("DB_PWD=abc", "DB_PWD=[redacted:password]"),
        ("X-Api-Key: 0123abcdef", "X-Api-Key: [redacted:secret]"),
    ];
    for (text, wanted) in table {
        assert_eq!(redacted(text, Edge::Closed), wanted, "{text}");
    }
}

#[test]
fn texts_that_resemble_secrets_are_not_redacted() {
    let texts = [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "integrity sha512-aB3dE5gH1jK2mN4pQ6sT8vW0yZ/+==",
        "/home/me/projects/token/src/password.rs:12:5",
        "key=value name=world primary_key=id cache-key: linux-cargo-3f786850",
        "PWD=/home/me OLDPWD=/tmp SSH_KEY_PATH=/x",
        "let token = lexer.next_token(); password: String, token: &str",
        "password=$PASSWORD token=${TOKEN} --token <TOKEN> --password \"$PASS\"",
        "secret=*** password: ******** token=xxxxxxxx",
        "Password: ",
        "Enter the password: it was wrong",
        "the --password option is required; use --token to log in",
        "token: expired",
        "sk-fading-circle-of-many-parts sk-learn",
        "http://localhost:8080/path git@github.com:owner/name https://host:443",
        "xoxb-is-a-prefix eyJ.is.no ghp_short AKIA",
        "next_token=abcdefgh12 max_token=100000 tokens: 512k",
        "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA0\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEA0\n-----END PUBLIC KEY-----",
        "Authorization: required",
        "token=self.token, password=getpass()",
        "TOKEN=/run/secrets/token",
    ];
    for text in texts {
        assert_eq!(redacted(text, Edge::Closed), text);
    }
}

#[test]
fn an_incomplete_secret_is_redacted_at_an_open_edge() {
    let table = [
        ("ghp_aB3", "[redacted:github-token]"),
        ("AIzaab", "[redacted:google-key]"),
        ("eyJhbGci.ab", "[redacted:jwt]"),
        ("password=h", "password=[redacted:password]"),
        ("token: abc", "token: [redacted:secret]"),
        ("x://me:hun", "x://me:[redacted:password]"),
        ("-----BEGIN PRIVATE KEY-----\nMII\nab", "[redacted:private-key]"),
    ];
    for (text, wanted) in table {
        assert_eq!(redacted(text, Edge::Open), wanted);
        assert_ne!(redacted(&format!("{text} "), Edge::Open), format!("{wanted} "), "{text} is complete");
    }
    assert_eq!(redacted("http://localhost:80", Edge::Open), "http://localhost:80");
}

#[test]
fn a_private_key_without_its_first_or_last_line_is_redacted() {
    let whole = key("RSA ");
    let (_, without_first) = whole.split_once('\n').unwrap();
    assert_eq!(redacted(&format!("cut {without_first}\nok"), Edge::Closed), "cut [redacted:private-key]\nok");
    let (without_last, _) = whole.rsplit_once('\n').unwrap();
    let text = format!("{without_last}\nall done.\n");
    assert_eq!(redacted(&text, Edge::Closed), "[redacted:private-key]all done.\n");
}

#[test]
fn secret_names_and_values_are_recognised() {
    for name in [
        "GITHUB_TOKEN",
        "DB_PASSWORD",
        "CLIENT_SECRET",
        "SOME_KEY",
        "AWS_CREDENTIALS",
        "apiKey",
        "PGPASSWORD",
    ] {
        assert!(is_secret_name(name.as_bytes()), "{name}");
    }
    for name in ["PATH", "PWD", "OLDPWD", "MONKEY", "KEYBOARD", "SSH_AUTH_SOCK", "HOME", "TOKENIZER", ""] {
        assert!(!is_secret_name(name.as_bytes()), "{name}");
    }
    assert!(is_secret_value(b"hunter2") && is_secret_value(b"/aB3+x/Y"));
    assert!(!is_secret_value(b"short") && !is_secret_value(b"/run/secrets/token"));
}

#[test]
fn hostile_texts_are_scanned_within_the_time_limit() {
    let hostile = [
        "password=$",
        "sk-",
        "eyJ-",
        "eyJaaaaaaaa.",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "token: a.",
        "-",
        "--token ",
        "password='",
        "Authorization: ",
        "-----END PRIVATE KEY-----",
        "a:",
        "[redacted:",
        "xoxb-",
        "curl -u ",
        "mysql -p'",
        "password=\"\\",
        "\npassword=abcdef,",
    ];
    let begun = std::time::Instant::now();
    for part in hostile {
        let text = part.repeat((1 << 19) / part.len());
        for edge in [Edge::Open, Edge::Closed] {
            assert!(find_secrets(text.as_bytes(), edge).len() <= text.len());
        }
    }
    // This takes two seconds with linear scanning and minutes with quadratic scanning. The limit allows for a busy
    // machine.
    assert!(begun.elapsed().as_secs() < 90, "{:?}", begun.elapsed());
}

/// Generates texts from words and characters that the rules look for.
fn secretlike_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("password".to_owned()),
        Just("token".to_owned()),
        Just("Authorization".to_owned()),
        Just("--api-key".to_owned()),
        Just("://me".to_owned()),
        Just("=".to_owned()),
        Just(":".to_owned()),
        Just(" ".to_owned()),
        Just("\"".to_owned()),
        Just("'".to_owned()),
        Just("\\".to_owned()),
        Just("@".to_owned()),
        Just("\n".to_owned()),
        Just("Bearer ".to_owned()),
        Just("-----BEGIN RSA PRIVATE KEY-----\n".to_owned()),
        Just("-----END RSA PRIVATE KEY-----".to_owned()),
        Just("eyJ".to_owned()),
        Just(".".to_owned()),
        Just(",".to_owned()),
        Just("(".to_owned()),
        Just("[redacted:jwt]".to_owned()),
        Just("[redacted:".to_owned()),
        Just("AKIAIOSFODNN7EXAMPLE".to_owned()),
        Just("sk-".to_owned()),
        Just("glpat-".to_owned()),
        (1_usize..40).prop_map(alnum),
        "[a-z]{1,10}",
        ".{0,3}",
    ];
    proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

/// Returns a text without its redaction marks.
fn without_marks(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut plain = Vec::new();
    while let Some((first, after)) = rest.split_first() {
        match mark_len(rest) {
            Some(len) => rest = &rest[len..],
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn redacting_again_shows_no_additional_text(text in secretlike_text()) {
        let once = redacted(&text, Edge::Closed);
        let twice = redacted(&once, Edge::Closed);
        // A mark ends a word, so the second pass may redact text that belonged to a longer word in the first pass.
        let mut rest = without_marks(&once).into_iter();
        for byte in without_marks(&twice) {
            prop_assert!(rest.any(|other| other == byte), "{twice:?} shows more than {once:?}");
        }
    }

    #[test]
    fn secrets_in_any_bytes_are_ordered_and_do_not_overlap(bytes: Vec<u8>, text in secretlike_text(), open: bool) {
        let edge = if open { Edge::Open } else { Edge::Closed };
        for text in [bytes.as_slice(), text.as_bytes()] {
            let mut at = 0;
            for secret in find_secrets(text, edge) {
                prop_assert!(at <= secret.start && secret.start < secret.end && secret.end <= text.len());
                at = secret.end;
            }
        }
    }

    #[test]
    fn plain_prose_has_no_secrets(text in "[a-zA-Z ,.!?\n]{0,200}") {
        prop_assert_eq!(find_secrets(text.as_bytes(), Edge::Closed), []);
    }
}

#[test]
fn a_secret_value_is_redacted_to_its_end() {
    for (text, wanted) in [
        (r#"{"password": "abc\"def123xyz", "a": 1}"#, r#"{"password": "[redacted:password]", "a": 1}"#),
        (r#"password="ends in a \\" x"#, r#"password="[redacted:password]" x"#),
        (r"password='it\'s4secret' x", "password='[redacted:password]' x"),
        (r"password='c:\' x", "password='[redacted:password]' x"),
        ("PASSWORD=p4ss,word)99x\nA=1", "PASSWORD=[redacted:password]\nA=1"),
        ("a\nexport DB_PASSWORD=ab;cd12|ef gh", "a\nexport DB_PASSWORD=[redacted:password] gh"),
        ("url?token=abc123def,x", "url?token=[redacted:secret],x"),
        ("password=\"correct horse battery staple\"", "password=\"[redacted:password]\""),
        ("SECRET_KEY_BASE=abcdef1234567890", "SECRET_KEY_BASE=[redacted:secret]"),
    ] {
        assert_eq!(redacted(text, Edge::Closed), wanted);
    }
}

#[test]
fn passwords_in_curl_and_mysql_options_are_redacted() {
    for (text, wanted) in [
        ("curl -s -u me:hunter2 https://x", "curl -s -u me:[redacted:password] https://x"),
        ("curl --user=me:hunter2", "curl --user=me:[redacted:password]"),
        ("curl -u \"me:hunter 2\" x", "curl -u \"me:[redacted:password]\" x"),
        ("mysql -uroot -phunter2 db", "mysql -uroot -p[redacted:password] db"),
        ("curl -u me:$PASSWORD x", "curl -u me:$PASSWORD x"),
        ("curl -u me x", "curl -u me x"),
        ("mysql -p db", "mysql -p db"),
        ("docker run -u 1000:1000 x", "docker run -u 1000:1000 x"),
        ("curl x\nmkdir -p a/b", "curl x\nmkdir -p a/b"),
    ] {
        assert_eq!(redacted(text, Edge::Closed), wanted);
    }
}
