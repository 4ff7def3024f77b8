//! Programs that communicate with other machines.

use mw_model::{Grant, WriteGrant};

use super::Call;
use super::interpreters::only_version;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::need;
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
                let effect = format!("exchanges data with {}", call.name);
                let grant = Grant { write: WriteGrant::Project, ..need::remote_service() };
                judge.ask_for(BuiltinRule::Network, &call.part, &why, &effect, grant);
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
    let effect =
        if remote { "exchanges files with another machine" } else { "copies files and may overwrite others" };
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
    judge.needs(need::remote_service());
    let verbs = verbs(call);
    let only_reads = match verbs.as_slice() {
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
    if !only_reads || opens {
        let why = "it is not read-only";
        let effect = "changes something on GitHub, or opens a browser";
        judge.ask_for(BuiltinRule::Network, &call.part, why, effect, need::remote_repository());
    }
}

fn kubectl(judge: &mut Judge<'_>, call: &Call<'_>) {
    judge.needs(need::remote_service());
    // A namespace may precede the verb.
    let skip = match call.args {
        [option, name, ..]
            if matches!(option.lit(), Some("-n" | "--namespace" | "--context")) && !name.is_option() =>
        {
            2
        }
        _ => 0,
    };
    let inner = Call { args: &call.args[skip..], part: String::new(), ..*call };
    let verbs = verbs(&inner);
    let only_reads =
        matches!(verbs.first(), Some(&("get" | "describe" | "logs" | "version" | "explain" | "top")));
    let secrets = call.args.iter().any(|word| word.lit().is_none_or(|text| text.contains("secret")));
    let settings = Names("--kubeconfig --server --token --as -s --cache-dir --profile -f --filename");
    let is_setting = |text: &str| settings.iter().any(|option| text.starts_with(option));
    let has_setting = call.args.iter().any(|word| word.lit().is_some_and(is_setting));
    if !only_reads || secrets || has_setting {
        let why = "it can change the cluster or show secrets";
        judge.ask(BuiltinRule::Network, &call.part, why, "changes a cluster, or reads its secrets");
    }
}
