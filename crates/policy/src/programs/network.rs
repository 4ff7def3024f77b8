//! Programs that communicate with other machines.

use super::Call;
use super::interpreters::only_version;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::script::word::Word;

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "scp" | "sftp" | "ftp" | "lftp" | "tftp" | "rclone" | "s3cmd" | "aws" | "gcloud" | "gsutil"
        | "az" | "doctl" | "heroku" | "vercel" | "netlify" | "fly" | "flyctl" | "wrangler" | "firebase"
        | "supabase" | "terraform" | "tofu" | "pulumi" | "ansible" | "ansible-playbook" | "helm" | "nc"
        | "ncat" | "netcat" | "telnet" | "openssl" | "mail" | "sendmail" | "mutt" | "nmap" | "tcpdump"
        | "ngrok" | "cloudflared" | "http" | "https" | "xh" | "httpie" | "axel" | "aria2c" | "yt-dlp"
        | "ssh-add" | "ssh-keygen" | "ssh-copy-id" | "gpg" | "pass" | "op" | "vault" | "age" => {
            if !only_version(call) {
                let why = format!("{} can send data to other machines, or use keys", call.name);
                judge.ask(
                    BuiltinRule::Network,
                    &call.part,
                    &why,
                    &format!("exchanges data by {}", call.name),
                );
            }
        }
        "rsync" => rsync(judge, call),
        "gh" => gh(judge, call),
        "kubectl" | "oc" => kubectl(judge, call),
        _ => return false,
    }
    true
}

fn rsync(judge: &mut Judge<'_>, call: &Call<'_>) {
    if only_version(call) {
        return;
    }
    let remote = call.args.iter().any(|word| word.lit().is_none_or(|text| text.contains(':')));
    let effect = if remote { "exchanges files with another machine" } else { "copies files over others" };
    judge.ask(
        BuiltinRule::Network,
        &call.part,
        "its options can run programs, send and delete files",
        effect,
    );
}

/// Returns the words before the first option.
fn verbs<'w>(call: &Call<'w>) -> Vec<&'w str> {
    call.args.iter().map_while(Word::lit).take_while(|text| !text.starts_with('-')).collect()
}

fn gh(judge: &mut Judge<'_>, call: &Call<'_>) {
    let verbs = verbs(call);
    let looks = match verbs.as_slice() {
        ["pr" | "issue" | "run" | "release" | "repo" | "workflow", verb, ..] => {
            matches!(*verb, "list" | "view" | "status" | "diff" | "checks")
        }
        ["version"] => true,
        [] => only_version(call),
        _ => false,
    };
    let opens = call.args.iter().any(|word| {
        word.lit().is_none_or(|text| {
            text.starts_with("--web")
                || text.starts_with('-') && !text.starts_with("--") && text.contains('w')
        })
    });
    if !looks || opens {
        let why = "it does more than read";
        judge.ask(BuiltinRule::Network, &call.part, why, "changes something on GitHub, or opens a browser");
    }
}

fn kubectl(judge: &mut Judge<'_>, call: &Call<'_>) {
    let verbs = verbs(call);
    let looks = matches!(verbs.first(), Some(&("get" | "describe" | "logs" | "version" | "explain" | "top")));
    let secrets = call.args.iter().any(|word| word.lit().is_none_or(|text| text.contains("secret")));
    let settings = Names("--kubeconfig --server --token --as -s --cache-dir --profile -f --filename");
    let is_setting = |text: &str| settings.iter().any(|option| text.starts_with(option));
    let has_setting = call.args.iter().any(|word| word.lit().is_some_and(is_setting));
    if !looks || secrets || has_setting {
        let why = "it does more than read";
        judge.ask(BuiltinRule::Network, &call.part, why, "changes or reads secrets of a cluster");
    }
}
