//! What a scripted model has to say so that a real agent does something: each agent has tools of its own.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::RealAgent;
use crate::server::{Protocol, Reply};

impl RealAgent {
    /// A model whose name the agent takes.
    pub fn model(self) -> &'static str {
        match self {
            Self::Claude => "claude-sonnet-4-5",
            Self::Codex => "gpt-5.5",
        }
    }

    /// How it talks to its model.
    pub fn protocol(self) -> Protocol {
        match self {
            Self::Claude => Protocol::Anthropic,
            Self::Codex => Protocol::OpenaiResponses,
        }
    }

    /// Where it looks for skills, below the work folder.
    pub fn skills_folder(self) -> &'static str {
        match self {
            Self::Claude => ".claude/skills",
            Self::Codex => ".agents/skills",
        }
    }

    /// Loads a skill. Codex has no tool for that: it reads the file.
    pub fn load(self, skill: &str) -> Reply {
        match self {
            Self::Claude => Reply::tool("Skill", json!({"skill": skill})),
            Self::Codex => self.shell(&format!("cat {}/{skill}/SKILL.md", self.skills_folder())),
        }
    }

    /// Runs a command in a shell.
    pub fn shell(self, command: &str) -> Reply {
        match self {
            Self::Claude => Reply::tool("Bash", json!({"command": command})),
            Self::Codex => Reply::tool("exec_command", json!({"cmd": command})),
        }
    }

    /// Writes a file of one line into the work folder.
    pub fn write(self, path: &str, line: &str) -> Reply {
        match self {
            Self::Claude => Reply::tool(
                "Write",
                json!({"file_path": format!("{{{{cwd}}}}/{path}"), "content": format!("{line}\n")}),
            ),
            Self::Codex => {
                let text = format!("*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch");
                Reply::tool("apply_patch", text.into())
            }
        }
    }

    /// The entries of the list of skills in what the agent told its model: names, and descriptions if they fit.
    pub fn listed(self, context: &str) -> Vec<String> {
        let heading = match self {
            Self::Claude => "skills are available for use with the Skill tool:\n\n",
            Self::Codex => "### Available skills\n",
        };
        let list = context.split_once(heading).map_or("", |(_, list)| list);
        list.lines().map_while(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
    }
}

/// A proxy that refuses everything and counts who asked: an agent that talks to anybody but 127.0.0.1 is caught.
#[derive(Debug)]
pub struct Trap {
    url: String,
    calls: Arc<AtomicUsize>,
}

impl Trap {
    /// Listens until the program ends.
    pub fn set() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        // The thread holds nothing but its socket.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
            }
        });
        Ok(Self { url, calls })
    }

    /// The variables that lead an agent here.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let proxies =
            ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
        let none = ["NO_PROXY", "no_proxy"].map(|name| (name, "127.0.0.1"));
        proxies.into_iter().map(|name| (name, self.url.as_str())).chain(none)
    }

    /// How many connections went elsewhere, as far as programs that honour proxies tell.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Copies a folder with everything in it.
pub fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs_err::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
