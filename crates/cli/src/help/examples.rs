//! Examples for the `--help` of each command.

/// Returns the examples of a command, as they are shown; empty if it is hidden.
pub(crate) fn examples(command: &str) -> &'static str {
    match command {
        "start" => START,
        "run" => RUN,
        "list" => LIST,
        "status" => STATUS,
        "output" => OUTPUT,
        "tail" => TAIL,
        "wait" => WAIT,
        "kill" => KILL,
        "signal" => SIGNAL,
        "pause" => PAUSE,
        "input" => INPUT,
        "attach" => ATTACH,
        "restart" => RESTART,
        "template" => TEMPLATE,
        "up" => UP,
        "down" => DOWN,
        "queue" => QUEUE,
        "clear" => CLEAR,
        "chat" => CHAT,
        "top" => TOP,
        "serve" => SERVE,
        "backends" => BACKENDS,
        "agent" => AGENT,
        "resume" => RESUME,
        "watch" => WATCH,
        "session" => SESSION,
        "notices" => NOTICES,
        "approvals" => APPROVALS,
        "approve" => APPROVE,
        "deny" => DENY,
        "policy" => POLICY,
        "mcp" => MCP,
        "acp" => ACP,
        "tools" => TOOLS,
        "traces" => TRACES,
        "setup" => SETUP,
        "hook" => HOOK,
        "doctor" => DOCTOR,
        "config" => CONFIG,
        "completions" => COMPLETIONS,
        _ => "",
    }
}

const START: &str = "\
Examples:
  mw start cargo build --release
  mw start 'npm run build && npm test'
  mw start --name web --ready-port 3000 'npm run dev'
  mw start --after build --timeout 10m 'make test'
  mw start --batch nightly --memory 2GiB ./fuzz.sh
  mw start --at 18:00 --retries 3 ./backup.sh
  mw start --every 15m ./poll.sh
  mw start -q make                        prints only the id";
const RUN: &str = "\
Examples:
  mw run cargo test
  mw run 'grep -r TODO src | wc -l'
  mw run --detach-after 30s make          leave it in the background after 30 seconds";
const LIST: &str = "\
Examples:
  mw list                                 running, queued, failed, ended
  mw list -s failed,timed_out -n 10
  mw list --batch nightly --all
  mw list --port 3000                     who listens on this port
  mw list -q                              only the ids";
const STATUS: &str = "\
Examples:
  mw status                               the latest task of this directory
  mw status web -n 50                     with its last 50 lines
  mw status web --json";
const OUTPUT: &str = "\
Examples:
  mw output                               the latest task of this directory
  mw output web -n 100                    its last 100 lines
  mw output web -f                        follow it until it ends
  mw output web --grep 'error|warning' --context 2
  mw output build --stream stderr --run 1
  mw output web db -f                     follow both; lines begin with the names
  mw logs -f                              follow all services of the project";
const TAIL: &str = "\
Examples:
  mw tail                                 the latest task of this directory
  mw tail web
  mw tail web -n 100";
const WAIT: &str = "\
Examples:
  mw wait                                 for the latest task of this directory
  mw wait build test -t 10m
  mw wait a b c --any
  mw wait web --until port=3000
  mw wait web --until 'match=listening on .*'
  mw wait --batch nightly --notify";
const KILL: &str = "\
Examples:
  mw kill web                             end it and everything that it started
  mw kill web -s KILL
  mw kill web -s HUP --then-kill          ask with HUP, kill after the grace period
  mw kill --batch nightly
  mw kill --all";
const SIGNAL: &str = "\
Examples:
  mw signal HUP web
  mw signal USR1 worker-1 worker-2";
const PAUSE: &str = "\
Examples:
  mw pause build                          mw resume build continues it";
const INPUT: &str = "\
Examples:
  mw input repl 'print(1 + 1)'
  mw input repl --eof
  mw input repl -                         types what standard input contains";
const ATTACH: &str = "\
Examples:
  mw attach                               to the latest task of this directory
  mw attach web                           Ctrl-] leaves it running";
const RESTART: &str = "\
Examples:
  mw restart web";
const TEMPLATE: &str = "\
Examples:
  mw template save nightly -- --timeout 2h --batch nightly 'make test && make report'
  mw template run nightly
  mw template run nightly --at 22:00      with another option of mw start
  mw template list";
const UP: &str = "\
Examples:
  mw up                                   all services of meanwhile.toml or Procfile
  mw up web                               one, and what it depends on
  mw up --recreate                        also replace what is declared otherwise now
  mw up --file Procfile.dev --timeout 5m";
const DOWN: &str = "\
Examples:
  mw down
  mw down web";
const QUEUE: &str = "\
Examples:
  mw queue                                what waits, in order, and why
  mw queue move deploy --first
  mw queue move lint --before build
  mw queue start build                    at once, whatever it waits for
  mw queue priority docs -5
  mw queue edit build make -j8";
const CLEAR: &str = "\
Examples:
  mw clear build
  mw clear --finished
  mw clear --older-than 7d
  mw clear -f web                         kill it first";
const CHAT: &str = "\
Examples:
  mw chat
  mw chat --agent claude-code
  mw chat --resume";
const SERVE: &str = "\
Examples:
  mw serve --open                         open the dashboard in the browser
  mw serve --port 0 --json                on any free port, with its address as JSON";
const BACKENDS: &str = "\
Examples:
  mw backends                             every back-end, and whether tasks can run there now
  mw backends builder                     only this one; exit code 1 if it is not available";
const TOP: &str = "\
Examples:
  mw top
  mw top --session work --theme light";
const AGENT: &str = "\
Examples:
  mw agent --list                         list the available agents
  mw agent 'find the flaky test' --agent claude-code
  mw agent 'write the release notes' --worktree";
const RESUME: &str = "\
Examples:
  mw resume build                         continue a paused task
  mw resume agent_1 'now fix it'";
const WATCH: &str = "\
Examples:
  mw watch
  mw watch --task web --idle-exit 1m
  mw watch --no-follow";
const SESSION: &str = "\
Examples:
  mw session list
  mw session run work -- bash
  mw session end work";
const NOTICES: &str = "\
Examples:
  mw notices --session work --peek";
const APPROVALS: &str = "\
Examples:
  mw approvals
  mw approvals --history --limit 20";
const APPROVE: &str = "\
Examples:
  mw approve k3f9
  mw approve k3f9 --session               also the same request again in this session";
const DENY: &str = "\
Examples:
  mw deny k3f9 --reason 'use the staging database'";
const POLICY: &str = "\
Examples:
  mw policy 'rm -rf build'
  mw policy --mode safe -- git push
  mw policy --file commands.txt";
const MCP: &str = "\
Examples:
  mw mcp                                  on standard input and output
  mw mcp --http 8123";
const ACP: &str = "\
Examples:
  mw acp --model anthropic/claude-sonnet-4-5
  mw acp --model ollama/qwen3 --mode safe";
const TOOLS: &str = "\
Examples:
  mw tools
  mw tools --dialect zidane --format openai";
const TRACES: &str = "\
Examples:
  mw traces
  mw traces --span web
  mw traces --export";
const SETUP: &str = "\
Examples:
  mw setup                                list the hosts
  mw setup claude-code
  mw setup cursor --project --print
  mw setup claude-code --remove
  mw setup systemd                        start due tasks after a reboot, too";
const HOOK: &str = "\
Examples:
  mw hook claude-code                     called by the hooks that mw setup adds";
const DOCTOR: &str = "\
Examples:
  mw doctor
  mw doctor --json";
const CONFIG: &str = "\
Examples:
  mw config
  mw config get queue.max_running
  mw config set queue.max_running 8
  mw config --default > ~/.config/meanwhile/config.toml";
const COMPLETIONS: &str = "\
Examples:
  mw completions --install                for your shell; shows what it adds to which file
  mw completions zsh                      prints the script";
