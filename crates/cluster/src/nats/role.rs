//! An example of a server's configuration: who may do what.

use std::fmt::Write as _;

/// What a worker publishes to; `fleet init --server-config` writes it into the example.
pub const WORKER_PUBLISHES: &[&str] = &[
    // Plans, and the state of queues.
    "$JS.API.INFO",
    "$JS.API.STREAM.INFO.KV_SG_PLAN",
    "$JS.API.STREAM.MSG.GET.KV_SG_PLAN",
    "$JS.API.DIRECT.GET.KV_SG_PLAN.>",
    "$JS.API.DIRECT.GET.KV_SG_PLAN",
    // Jobs: look at a plan's consumer, pull, acknowledge.
    "$JS.API.CONSUMER.INFO.SG_RUNS.*",
    "$JS.API.CONSUMER.INFO.SG_GRADES.*",
    "$JS.API.CONSUMER.MSG.NEXT.SG_RUNS.*",
    "$JS.API.CONSUMER.MSG.NEXT.SG_GRADES.*",
    "$JS.ACK.SG_RUNS.>",
    "$JS.ACK.SG_GRADES.>",
    // Results: write, and read back who won.
    "$KV.SG_RESULTS.>",
    "$KV.SG_SCORES.>",
    "$JS.API.STREAM.MSG.GET.KV_SG_RESULTS",
    "$JS.API.STREAM.MSG.GET.KV_SG_SCORES",
    // Files: inputs are read, archives are written and read.
    "$JS.API.STREAM.MSG.GET.OBJ_SG_INPUTS",
    "$JS.API.DIRECT.GET.OBJ_SG_INPUTS",
    "$JS.API.DIRECT.GET.OBJ_SG_INPUTS.>",
    "$O.SG_ARCHIVES.>",
    "$JS.API.DIRECT.GET.OBJ_SG_ARCHIVES",
    "$JS.API.DIRECT.GET.OBJ_SG_ARCHIVES.>",
    // An upload that lost, or found no room, is removed by whoever made it. The subject cannot say which.
    "$JS.API.STREAM.PURGE.OBJ_SG_ARCHIVES",
    // Telling people that it is there.
    "$KV.SG_STATUS.worker.*",
    // Who else is there.
    "$JS.API.DIRECT.GET.KV_SG_STATUS",
    "$JS.API.DIRECT.GET.KV_SG_STATUS.>",
];

/// The text of a server's configuration with two roles, TLS, and settings under which nothing is lost.
pub fn server_config() -> String {
    let mut allowed = String::new();
    for subject in WORKER_PUBLISHES {
        let _ = writeln!(allowed, "        \"{subject}\"");
    }
    format!(
        r#"# An example of a nats-server configuration for a skillgauge fleet.
# Start it with: nats-server -c fleet.conf
server_name: fleet-1
listen: "0.0.0.0:4222"

jetstream {{
  store_dir: "/var/lib/nats"
  # Every write is on the disk before it is acknowledged. Durations are quoted: `2m` without quotes is a number.
  sync_interval: "always"
  max_file_store: 500G
}}

tls {{
  cert_file: "/etc/nats/server.pem"
  key_file: "/etc/nats/server-key.pem"
}}

# Three servers in three places: give each a name of its own, and `fleet init --replicas 3`.
# cluster {{
#   name: fleet
#   listen: "0.0.0.0:6222"
#   routes: ["nats://fleet-2:6222", "nats://fleet-3:6222"]
# }}

authorization {{
  # Takes plans in and collects results: init, submit, collect, status, cancel.
  coordinator: {{ publish: ">", subscribe: ">" }}
  # Takes jobs, stores results; cannot make or change anything else, and cannot replace or remove a result. Workers are
  # trusted all the same: one can forge a result that is not there yet, end a job of another worker, and remove archives
  # that nobody has collected. NATS cannot narrow the right to remove an upload to one's own.
  worker: {{
    publish: {{
      allow: [
{allowed}      ]
    }}
    # A worker named w1 (`fleet worker --name w1`) reads its own answers. With `_INBOX_>` all workers could read all.
    # The other subject tells it at once that a plan is new or over; without it, it looks about once a second.
    subscribe: ["_INBOX_w1.>", "sg.v1.ctl.*"]
  }}
  users: [
    {{ user: coordinator, password: $FLEET_COORDINATOR_PASSWORD, permissions: $coordinator }}
    {{ user: w1, password: $FLEET_WORKER_PASSWORD, permissions: $worker }}
  ]
}}
"#
    )
}
