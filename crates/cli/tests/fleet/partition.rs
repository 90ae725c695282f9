//! A worker whose network is gone for longer than its lease, and comes back.
//!
//! The worker lives in a network namespace that reaches this machine over one pair of virtual interfaces. Taking ours down
//! loses its packets without a word, as a broken cable does.

use std::io::Write as _;
use std::net::Ipv4Addr;
use std::process::Command;

use skillgauge_cluster::Queue;
use skillgauge_testkit::process::Group;

use crate::gate::{Ended, all_is_right};
use crate::kit::{Kit, Work, assert_complete, until};
use crate::lease::REFUSED;
use crate::link::Link;

/// A namespace with one way out; both are removed when it is dropped.
struct Namespace {
    name: String,
    interface: String,
}

fn ip(args: &str) -> Result<(), String> {
    let output = Command::new("ip").args(args.split_whitespace()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("ip {args}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("ip: {error}")),
    }
}

impl Namespace {
    /// Ours is `10.A.B.1`, the worker's `10.A.B.2`; the process decides which.
    fn new() -> Result<(Self, Ipv4Addr), String> {
        let process = std::process::id();
        let [.., a, b] = process.to_be_bytes();
        let (here, there) = (Ipv4Addr::new(10, a, b, 1), Ipv4Addr::new(10, a, b, 2));
        let name = format!("sg{process}");
        let namespace = Self { interface: format!("sgv{process}"), name };
        let Self { name, interface } = &namespace;
        ip(&format!("netns add {name}"))?;
        ip(&format!("link add {interface} type veth peer name eth0 netns {name}"))?;
        ip(&format!("addr add {here}/30 dev {interface}"))?;
        ip(&format!("link set {interface} up"))?;
        ip(&format!("-n {name} addr add {there}/30 dev eth0"))?;
        ip(&format!("-n {name} link set eth0 up"))?;
        ip(&format!("-n {name} link set lo up"))?;
        Ok((namespace, here))
    }

    fn spawn(&self, command: &Command) -> Group {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.name]).arg(command.get_program());
        inside.args(command.get_args());
        inside.current_dir(command.get_current_dir().unwrap()).env_clear();
        for (name, value) in command.get_envs() {
            inside.env(name, value.unwrap());
        }
        Group::spawn(&mut inside).unwrap()
    }

    fn set(&self, state: &str) {
        ip(&format!("link set {} {state}", self.interface)).unwrap();
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The interface goes with its peer.
        let _ = ip(&format!("link del {}", self.interface));
        let _ = ip(&format!("netns del {}", self.name));
    }
}

#[test]
fn a_worker_that_was_cut_off_past_its_lease_comes_back_too_late_and_is_refused() {
    let (namespace, here) = match Namespace::new() {
        Ok(made) => made,
        Err(why) => {
            // Straight to stderr: the test harness would keep a print for itself.
            let said = "SKIPPED: no partition was tested, there are no network namespaces here";
            writeln!(std::io::stderr(), "{said}: {why}").unwrap();
            return;
        }
    };
    let (kit, server) = Kit::start(Work { bytes: 20_000, ..Work::default() });
    let link = Link::to(server.port(), here.into());
    let id = kit.submit(&[]);
    kit.hold();
    let cut = kit.worker_command(&link.url(), "cut", &["--slots", "2", "--grade-slots", "0"]);
    let cut = namespace.spawn(&cut);
    until("two runs are under way there", || kit.executions() == 2);
    namespace.set("down");
    kit.go_on();
    let _other = kit.worker("other", &[]);
    let raw = kit.raw();
    until("the other worker has done everything", || raw.results(Queue::Runs, &id).len() == 24);
    namespace.set("up");
    until("both late results are refused", || cut.stderr().unwrap().matches(REFUSED).count() == 2);
    assert!(raw.results(Queue::Runs, &id).iter().all(|result| result.worker == "other"));
    assert_complete(&kit.collect());
    all_is_right(&kit, &Ended::Complete);
}
