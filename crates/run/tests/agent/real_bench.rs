//! The real agents on a bench: linked into its programs, with dummy keys, and with a trap for traffic that goes elsewhere.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{AnsweredBy, Server};

use crate::bench::{Bench, KEY};

/// A bench with a real agent and a scripted server.
pub(crate) struct RealBench {
    pub(crate) bench: Bench,
    pub(crate) server: Server,
    pub(crate) stray: Arc<AtomicUsize>,
}

impl RealBench {
    /// Claude Code with a key; nothing when the test has to be skipped.
    pub(crate) fn claude(script: skillgauge_testkit::server::Script) -> Option<Self> {
        let program = program(RealAgent::Claude)?;
        let server = Server::start(script).unwrap();
        let bench = Bench::new().with("ANTHROPIC_BASE_URL", &server.url());
        fs_err::os::unix::fs::symlink(program, bench.path("bin/claude")).unwrap();
        Some(Self::trapped(bench.with("ANTHROPIC_API_KEY", KEY), server))
    }

    /// Codex behind its launcher, with a key; nothing when the test has to be skipped.
    pub(crate) fn codex(script: skillgauge_testkit::server::Script) -> Option<Self> {
        let native = program(RealAgent::Codex)?;
        let package = native.ancestors().find(|folder| folder.ends_with("@openai/codex")).unwrap();
        let server = Server::start(script).unwrap();
        let bench = Bench::new().with("OPENAI_BASE_URL", &server.url_v1());
        fs_err::os::unix::fs::symlink(package.join("bin/codex.js"), bench.path("bin/codex"))
            .unwrap();
        Some(Self::trapped(bench.with("OPENAI_API_KEY", KEY), server))
    }

    fn trapped(bench: Bench, server: Server) -> Self {
        let (url, stray) = trap();
        let bench = bench.with("NO_PROXY", "127.0.0.1").with("no_proxy", "127.0.0.1");
        let proxies =
            ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
        let bench = proxies.into_iter().fold(bench, |bench, name| bench.with(name, &url));
        Self { bench, server, stray }
    }

    /// The names of the rules that answered, in order; what no rule answered shows as what it was.
    pub(crate) fn rules(&self) -> Vec<String> {
        let names = self.server.requests().into_iter().map(|request| match request.answered_by {
            AnsweredBy::Rule { name, index } => name.unwrap_or_else(|| index.to_string()),
            other => format!("{other:?} {}", request.path),
        });
        names.collect()
    }

    /// Nothing went elsewhere, and no file of ours holds the key.
    pub(crate) fn check_clean(&self) {
        assert_eq!(self.stray.load(Ordering::SeqCst), 0, "traffic went elsewhere");
        assert!(self.bench.left_in_scratch().is_empty());
        assert_eq!(self.bench.files_with("", KEY), Vec::<PathBuf>::new());
    }
}

fn program(agent: RealAgent) -> Option<PathBuf> {
    real::for_test(agent).unwrap_or_else(|error| panic!("{} is not usable: {error}", agent.name()))
}

/// A proxy that refuses everything and counts who asked.
fn trap() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    // The thread ends with the test program; it holds nothing but its socket.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counter.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
        }
    });
    (url, calls)
}
