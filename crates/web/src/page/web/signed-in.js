// Keeps the key that this page sends with its requests. Unlike the cookie, no other server of this machine gets it.
localStorage.setItem("key", document.querySelector("meta[name=page-key]").content);
location.replace("/");
