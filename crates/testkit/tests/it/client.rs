//! An HTTP client without any cleverness: one request per connection, and every byte of the answer.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;
use skillgauge_testkit::server::Server;

/// What came back, with the time at which each piece arrived.
pub(crate) struct Answer {
    pub(crate) raw: Vec<u8>,
    pub(crate) first_byte: Option<Duration>,
    pub(crate) longest_pause: Duration,
    pub(crate) total: Duration,
}

/// Sends a POST with a JSON body and reads until the server closes.
pub(crate) fn post(server: &Server, path: &str, body: &Value) -> Answer {
    post_with(server, path, &[], body)
}

/// The same with further headers.
pub(crate) fn post_with(
    server: &Server,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Answer {
    send(server.address(), "POST", path, headers, body.to_string().as_bytes())
}

pub(crate) fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> Answer {
    send(server.address(), "GET", path, headers, b"")
}

pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let headers: String =
        headers.iter().map(|(name, value)| [name, ": ", value, "\r\n"].concat()).collect();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // A server that refuses a large body may close before it has read all of it.
    let _ = stream.write_all(body);
    read(stream)
}

fn read(mut stream: TcpStream) -> Answer {
    let start = Instant::now();
    let mut answer = Answer {
        raw: Vec::new(),
        first_byte: None,
        longest_pause: Duration::ZERO,
        total: Duration::ZERO,
    };
    let mut last = start;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = stream.read(&mut buffer).unwrap_or(0);
        let now = Instant::now();
        if count == 0 {
            break;
        }
        if answer.first_byte.is_some() {
            answer.longest_pause = answer.longest_pause.max(now - last);
        }
        answer.first_byte.get_or_insert(now - start);
        answer.raw.extend_from_slice(&buffer[..count]);
        last = now;
    }
    answer.total = start.elapsed();
    answer
}

impl Answer {
    /// The bytes as text, with carriage returns made visible.
    pub(crate) fn visible(&self) -> String {
        String::from_utf8_lossy(&self.raw).replace("\r\n", "\\r\\n\n")
    }

    pub(crate) fn status(&self) -> u16 {
        self.head().split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let head = self.head();
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    }

    /// The body without its framing.
    pub(crate) fn body(&self) -> String {
        let split = self.split();
        let bytes = &self.raw[split..];
        match self.header("transfer-encoding").as_deref() {
            Some("chunked") => String::from_utf8(unchunk(bytes)).unwrap(),
            _ => String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body()).unwrap()
    }

    /// Whether the framing was completed: the last chunk, or as many bytes as were promised.
    pub(crate) fn is_complete(&self) -> bool {
        match self.header("content-length") {
            Some(length) => self.raw.len() - self.split() == length.parse::<usize>().unwrap(),
            None => self.raw.ends_with(b"0\r\n\r\n"),
        }
    }

    /// The data of each server-sent event.
    pub(crate) fn events(&self) -> Vec<String> {
        self.body()
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(str::to_owned)
            .collect()
    }

    fn split(&self) -> usize {
        self.raw.windows(4).position(|window| window == b"\r\n\r\n").expect("an HTTP head") + 4
    }

    fn head(&self) -> String {
        String::from_utf8(self.raw[..self.split()].to_vec()).unwrap()
    }
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(line_end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size =
            usize::from_str_radix(std::str::from_utf8(&bytes[..line_end]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        let start = line_end + 2;
        body.extend_from_slice(&bytes[start..start + size]);
        bytes = &bytes[start + size + 2..];
    }
    body
}
