//! `skillgauge report` and `skillgauge serve`, as a user calls them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::command::Project;

/// A workspace with one run.
fn workspace(project: &Project) {
    let run = "notes-workspace/iteration-1/eval-1/with_skill/run-1";
    project
        .file("notes-workspace/iteration-1/iteration.json", r#"{"skill_name": "notes", "executor_model": "m"}"#)
        .file(&format!("{run}/outputs/notes.md"), "# Notes")
        .file(&format!("{run}/run.json"), r#"{"outcome": "completed"}"#)
        .file(
            &format!("{run}/grading.json"),
            r#"{"expectations": [{"text": "There are notes", "passed": true, "evidence": "notes.md"}]}"#,
        );
}

#[test]
fn a_report_is_one_file() {
    let project = Project::new();
    workspace(&project);
    insta::assert_snapshot!(project.run(&["report", "notes-workspace", "-o", "out.html"]));
    let html = String::from_utf8(project.read("out.html")).unwrap();
    assert!(html.starts_with("<!doctype html>"));
    assert!(html.contains("There are notes") && html.contains("# Notes"));
    assert_eq!(project.stdout(&["report", "notes-workspace", "-o", "-"]), html);
}

#[test]
fn a_report_of_nothing_says_what_to_do() {
    let project = Project::new();
    insta::assert_snapshot!(project.run(&["report", "nowhere"]));
    insta::assert_snapshot!(project.run(&["serve", "nowhere", "--no-open", "--port", "0"]));
}

/// A viewer that ends with the test.
struct Viewer(Child);

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_viewer_takes_the_next_port_and_answers_there() {
    let project = Project::new();
    workspace(&project);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut command =
        project.command(&["serve", "notes-workspace", "--no-open", "--port", &port.to_string()]);
    let mut viewer = Viewer(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(viewer.0.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with(&format!("port {port} is taken, so this is port ")), "{first}");
    let second = lines.next().unwrap().unwrap();
    let host = second.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let mut stream = TcpStream::connect(&host).unwrap();
    write!(
        stream,
        "GET /i/iteration-1/overview HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.contains("100 % of the expectations pass with skill"));
}

/// The opener is the system's; here it writes down what it was asked to open, into a pipe that the test reads.
#[cfg(target_os = "linux")]
#[test]
fn the_browser_is_opened_at_the_address_that_is_printed() {
    use std::os::unix::fs::PermissionsExt as _;

    let project = Project::new();
    workspace(&project);
    project.file("bin/xdg-open", "#!/bin/sh\nexec echo \"$1\" > \"$OPENED\"\n");
    let script = project.path().join("bin/xdg-open");
    fs_err::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let opened = project.path().join("opened");
    assert!(std::process::Command::new("mkfifo").arg(&opened).status().unwrap().success());
    let mut command = project.command(&["serve", "notes-workspace", "--port", "0"]);
    let path = format!("{}:/usr/bin:/bin", project.path().join("bin").display());
    command.env("PATH", path).env("OPENED", &opened).stderr(Stdio::piped());
    let mut viewer = Viewer(command.spawn().unwrap());
    let mut lines = BufReader::new(viewer.0.stderr.take().unwrap()).lines();
    let said = lines.next().unwrap().unwrap();
    let asked = fs_err::read_to_string(&opened).unwrap();
    assert!(said.starts_with(&format!("{} shows", asked.trim_end())), "{said} but {asked}");
}
