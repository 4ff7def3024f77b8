//! The page for a browser that is not signed in. It works without scripts and styles of its own files, because those need
//! the cookie.

/// Returns the page. It says why the last attempt failed, if there was one.
#[must_use]
pub fn sign_in_page(has_password: bool, problem: Option<&str>) -> String {
    let problem =
        problem.map(|text| format!("<p role=\"alert\"><strong>{text}</strong></p>")).unwrap_or_default();
    let form = if has_password {
        "<form method=\"post\" action=\"/login\"><label>Password <input type=\"password\" name=\"password\" \
         autocomplete=\"current-password\" autofocus></label> <button>Sign in</button></form>"
    } else {
        ""
    };
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sign in · meanwhile</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\"></head>\
         <body><main><h1>meanwhile</h1>{problem}<p>This browser is not signed in. Open the link that <code>mw serve</code> \
         has printed in its terminal. Each link works once; the next one is printed when one was used.</p>{form}</main></body></html>"
    )
}
