//! Programs that start, with what they were given, and programs that cannot.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use skillgauge_run::process::{Command, Flow, Guard, ProcessError, run};
use tokio_util::sync::CancellationToken;

use crate::process::stage::{Place, limits};

#[tokio::test]
async fn a_program_that_ends_well_says_so() {
    let place = Place::new();
    let before = SystemTime::now();
    let command = place.shell("echo one; echo two >&2; sleep 0.1; printf three");
    let (ended, lines) = place.run_within(&command, &limits()).await.unwrap();
    assert_eq!((ended.status.code, ended.status.signal, ended.status.stop), (Some(0), None, None));
    assert_eq!(lines, ["one", "three"]);
    assert_eq!((ended.stdout.bytes, ended.stdout.lines), (9, 2));
    assert_eq!(ended.stderr.text(), "two\n");
    assert_eq!((ended.stragglers, ended.survivors), (0, 0));
    assert!(ended.started >= before && ended.finished() <= SystemTime::now());
    assert!(ended.duration >= Duration::from_millis(100) && ended.duration.as_secs() < 20);
    let usage = ended.usage.unwrap();
    assert!((100 << 10..100 << 20).contains(&usage.peak_rss), "{usage:?}");
}

#[tokio::test]
async fn every_exit_code_and_signal_arrives_as_it_was() {
    let place = Place::new();
    for code in [1, 2, 64, 126, 127, 128, 137, 143, 255] {
        let ended = place.run(&place.shell(&format!("exit {code}"))).await.unwrap();
        assert_eq!((ended.status.code, ended.status.signal), (Some(code), None));
    }
    for signal in [1, 2, 6, 9, 11, 15] {
        let ended = place.run(&place.shell(&format!("kill -{signal} $$"))).await.unwrap();
        assert_eq!((ended.status.code, ended.status.signal), (None, Some(signal)));
        assert_eq!(ended.status.stop, None, "it was not us");
    }
}

#[tokio::test]
async fn a_crash_leaves_no_core_file() {
    let place = Place::new();
    place.run(&place.shell("ulimit -c unlimited 2>/dev/null; kill -ABRT $$")).await.unwrap();
    assert_eq!(fs_err::read_dir(place.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn the_environment_holds_what_was_given_and_nothing_else() {
    let place = Place::new();
    let command = place.command("env").variable("GIVEN", "a value");
    let (_, mut lines) = place.run_within(&command, &limits()).await.unwrap();
    lines.sort();
    let mark = format!("SKILLGAUGE_TEST_MARK={}", place.mark);
    assert_eq!(lines, ["GIVEN=a value", "PATH=/usr/local/bin:/usr/bin:/bin", &mark]);
}

#[tokio::test]
async fn the_program_sees_no_open_file_of_ours() {
    let place = Place::new();
    let list = "ls /proc/self/fd";
    let direct = std::process::Command::new("sh").args(["-c", list]).output().unwrap();
    let direct = String::from_utf8(direct.stdout).unwrap();
    let (_, lines) = place.run_within(&place.shell(list), &limits()).await.unwrap();
    assert_eq!(lines, direct.lines().collect::<Vec<_>>(), "what we were given ourselves, no more");
}

#[tokio::test]
async fn the_program_sees_its_folder_and_no_terminal() {
    let place = Place::new();
    let script = "readlink /proc/self/fd/0; (: </dev/tty) 2>/dev/null || echo no terminal; pwd -P";
    let (_, lines) = place.run_within(&place.shell(script), &limits()).await.unwrap();
    let folder = place.path().canonicalize().unwrap().display().to_string();
    assert_eq!(lines, ["/dev/null", "no terminal", &folder]);
}

#[tokio::test]
async fn a_text_on_standard_input_arrives_whole_and_ends() {
    let place = Place::new();
    let text = "línea\n".repeat(200_000);
    let command = place.shell("cat | wc -c; cat | wc -c").stdin(text.clone());
    let (_, lines) = place.run_within(&command, &limits()).await.unwrap();
    assert_eq!(lines, [text.len().to_string().as_str(), "0"]);
}

#[tokio::test]
async fn a_program_that_does_not_read_its_input_is_not_disturbed() {
    let place = Place::new();
    let command = place.shell("exit 5").stdin(vec![b'x'; 4 << 20]);
    assert_eq!(place.run(&command).await.unwrap().status.code, Some(5));
    let (_, lines) = place.run_within(&place.command("cat").stdin(""), &limits()).await.unwrap();
    assert!(lines.is_empty());
}

#[tokio::test]
async fn a_program_that_is_not_there_was_not_found() {
    let place = Place::new();
    for program in ["no-such-program", "./no/such/program", "/no/such/program"] {
        let error = place.run(&place.command(program)).await.unwrap_err();
        assert!(matches!(error, ProcessError::NotFound { .. }), "{error:?}");
        assert!(error.to_string().contains(program) && !error.may_pass());
    }
    let mut command = place.command("sh");
    command.environment.remove(std::ffi::OsStr::new("PATH"));
    command.environment.insert("PATH".into(), place.path().into());
    let error = place.run(&command).await.unwrap_err();
    assert!(
        matches!(error, ProcessError::NotFound { .. }),
        "only the given PATH counts: {error:?}"
    );
}

#[tokio::test]
async fn a_file_that_cannot_run_is_named_with_the_reason() {
    let place = Place::new();
    let file = |name: &str, text: &str, mode| {
        let path = place.path().join(name);
        fs_err::write(&path, text).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let no_permission = file("plain", "#!/bin/sh\n", 0o644);
    let no_format = file("format", "\u{7f}neither ELF nor a script", 0o755);
    let no_interpreter = file("orphan", "#!/no/such/interpreter\n", 0o755);
    for program in [no_permission, no_format, place.path().to_owned()] {
        let error = place.run(&place.command(&program)).await.unwrap_err();
        assert!(matches!(error, ProcessError::NotExecutable { .. }), "{error:?}");
    }
    let error = place.run(&place.command(&no_interpreter)).await.unwrap_err();
    assert!(matches!(error, ProcessError::NoInterpreter { .. }), "{error:?}");
}

#[tokio::test]
async fn arguments_that_are_too_long_are_told_from_a_missing_program() {
    let place = Place::new();
    let one = place.command("true").arguments(["x".repeat(200 << 10)]);
    let many = place.command("true").arguments((0..30_000).map(|_| "x".repeat(200)));
    for command in [one, many] {
        let error = place.run(&command).await.unwrap_err();
        assert!(
            matches!(error, ProcessError::ArgumentsTooLong { bytes: 200_000.., .. }),
            "{error:?}"
        );
        assert!(!error.may_pass());
    }
    let error = place.run(&place.command("true").arguments(["a\0b"])).await.unwrap_err();
    assert!(matches!(error, ProcessError::NotStarted { .. }), "{error:?}");
}

#[tokio::test]
async fn a_missing_folder_and_a_missing_guard_are_told_apart() {
    let place = Place::new();
    let mut command = place.command("true");
    command.folder = place.path().join("gone");
    let error = place.run(&command).await.unwrap_err();
    assert!(matches!(error, ProcessError::Folder { .. }), "{error:?}");

    let guard = Guard::new("/no/such/guard");
    let (command, cancel) = (place.command("true"), CancellationToken::new());
    let error = run(&guard, &command, &limits(), &cancel, |_| Flow::Continue).await.unwrap_err();
    assert!(matches!(error, ProcessError::Guard { .. }) && error.may_pass(), "{error:?}");
}

#[tokio::test]
async fn a_guard_that_is_called_by_hand_says_what_it_is() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_skillgauge-guard")).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&output.stderr).contains("internal command"));
}

#[tokio::test]
async fn a_relative_program_starts_in_its_folder() {
    let place = Place::new();
    fs_err::os::unix::fs::symlink("/bin/sh", place.path().join("here")).unwrap();
    let command: Command = place.command("./here").arguments(["-c", "exit 9"]);
    assert_eq!(place.run(&command).await.unwrap().status.code, Some(9));
}
