//! A headless Chromium, driven over two pipes in its DevTools protocol: no driver program, no port.
//!
//! The browser reads commands from file descriptor 3 and writes answers to 4, as JSON texts that end with a zero byte. A
//! shell connects the two to named pipes, because a child of the standard library gets only the first three.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// How long something may take to become true; the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A browser with one page.
pub(crate) struct Chromium {
    child: Child,
    commands: File,
    answers: BufReader<File>,
    session: Option<String>,
    next: u64,
    events: Vec<Value>,
    folder: tempfile::TempDir,
}

/// How the page is shown.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) scheme: &'static str,
}

pub(crate) const DESK: Look = Look { width: 1280, height: 900, scheme: "light" };

fn program() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = names
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .find(|program| program.is_file());
    assert!(found.is_some(), "these tests need Chromium: run scripts/install-needs");
    found.unwrap()
}

impl Chromium {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (commands, answers) = (folder.path().join("commands"), folder.path().join("answers"));
        let made = Command::new("mkfifo").args([&commands, &answers]).status().unwrap();
        assert!(made.success());
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$COMMANDS\" 4>\"$ANSWERS\""])
            .arg(program())
            .args(["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"])
            .args([
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--hide-scrollbars",
                "--disable-extensions",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .env("COMMANDS", &commands)
            .env("ANSWERS", &answers)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = std::fs::OpenOptions::new().write(true).open(commands).unwrap();
        let answers = BufReader::new(File::open(answers).unwrap());
        let mut browser =
            Self { child, commands, answers, session: None, next: 0, events: Vec::new(), folder };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = Some(session["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.look(DESK);
        browser
    }

    /// A folder that is gone with the browser.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.try_call(method, params);
        assert!(answer.is_ok(), "{method}: {answer:?}");
        answer.unwrap_or_default()
    }

    /// What the browser answers, or its error.
    fn try_call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.answers.read_until(0, &mut bytes).unwrap();
            bytes.pop();
            assert!(!bytes.is_empty(), "the browser ended before it answered {method}");
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == json!(self.next) {
                let error = &answer["error"];
                return if error.is_null() {
                    Ok(answer["result"].clone())
                } else {
                    Err(error.clone())
                };
            }
            self.events.push(answer);
        }
    }

    pub(crate) fn look(&mut self, look: Look) {
        let size = json!({"width": look.width, "height": look.height, "deviceScaleFactor": 1, "mobile": look.width < 600});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let feature = json!({"features": [{"name": "prefers-color-scheme", "value": look.scheme}]});
        self.call("Emulation.setEmulatedMedia", &feature);
    }

    /// Opens an address and waits until everything of it is there.
    pub(crate) fn open(&mut self, address: &str) {
        self.call("Page.navigate", &json!({"url": address}));
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// What an expression gives on the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", &params);
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {}",
            result["exceptionDetails"]
        );
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let began = Instant::now();
        let params = json!({"expression": format!("Boolean({expression})"), "returnByValue": true});
        loop {
            // While a page changes there is no place to evaluate anything in.
            let found = self.try_call("Runtime.evaluate", &params).unwrap_or_default();
            if found["result"]["value"] == json!(true) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Clicks, as a person does. The page may be another one before the browser answers.
    pub(crate) fn click(&mut self, selector: &str) {
        let selector = json!(selector);
        let params = json!({"expression": format!("document.querySelector({selector}).click()")});
        let clicked = self.try_call("Runtime.evaluate", &params).unwrap_or_default();
        assert!(clicked["exceptionDetails"].is_null(), "{selector}: {clicked}");
    }

    /// Presses a key, as a person does.
    pub(crate) fn key(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            _ => (i32::from(key.as_bytes()[0].to_ascii_uppercase()), key),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                params["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &params);
        }
    }

    /// Types a text where the cursor is.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Saves what is to be seen, the whole page.
    pub(crate) fn screenshot(&mut self, path: &Path) {
        let height = self.eval("Math.min(document.documentElement.scrollHeight, 2600)");
        let width = self.eval("innerWidth");
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
        let params = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let image = self.call("Page.captureScreenshot", &params);
        fs_err::write(path, STANDARD.decode(image["data"].as_str().unwrap()).unwrap()).unwrap();
    }

    /// Everything that the console called an error, refused script included.
    pub(crate) fn errors(&self) -> Vec<String> {
        let is_error = |event: &&Value| {
            let params = &event["params"];
            match event["method"].as_str() {
                Some("Runtime.exceptionThrown") => true,
                Some("Runtime.consoleAPICalled") => params["type"] == "error",
                Some("Log.entryAdded") => params["entry"]["level"] == "error",
                _ => false,
            }
        };
        self.events.iter().filter(is_error).map(|event| event["params"].to_string()).collect()
    }

    /// Every address that was asked for.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.events
            .iter()
            .filter(|event| event["method"] == "Network.requestWillBeSent")
            .map(|event| event["params"]["request"]["url"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.commands.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        std::thread::sleep(Duration::from_millis(100));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
