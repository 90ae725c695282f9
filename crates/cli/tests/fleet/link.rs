//! A way to the server that can be held up at a chosen moment, and let go again.
//!
//! What the client sends is taken apart into messages. Before the first one that contains the chosen text, everything from
//! the client waits; one to a subject that is muted never arrives, as if the server were slow to answer that alone.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// A listener of its own; it ends with the test's process.
pub(crate) struct Link {
    address: SocketAddr,
    gate: Arc<Gate>,
}

#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    at: Option<Vec<u8>>,
    is_held: bool,
    /// Parts of subjects that get nothing.
    muted: Vec<Vec<u8>>,
    /// How many messages never arrived.
    swallowed: usize,
}

impl Link {
    /// A link to a port of this machine, on an address of this machine.
    pub(crate) fn to(port: u16, at: IpAddr) -> Self {
        let listener = TcpListener::bind((at, 0)).unwrap();
        let link = Self { address: listener.local_addr().unwrap(), gate: Arc::default() };
        let gate = Arc::clone(&link.gate);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                let (from_server, to_client) =
                    (server.try_clone().unwrap(), client.try_clone().unwrap());
                let gate = Arc::clone(&gate);
                thread::spawn(move || pass_messages(client, server, &gate));
                thread::spawn(move || pass(from_server, to_client));
            }
        });
        link
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    /// From now on the first message with this text holds the client up.
    pub(crate) fn hold_at(&self, text: &str) {
        self.gate.state.lock().unwrap().at = Some(text.as_bytes().to_vec());
    }

    /// From now on messages to subjects with this text never arrive.
    pub(crate) fn mute(&self, text: &str) {
        self.gate.state.lock().unwrap().muted.push(text.as_bytes().to_vec());
    }

    /// From now on everything arrives again; what did not is lost.
    pub(crate) fn unmute(&self) {
        self.gate.state.lock().unwrap().muted.clear();
    }

    /// How many messages never arrived.
    pub(crate) fn swallowed(&self) -> usize {
        self.gate.state.lock().unwrap().swallowed
    }

    /// Whether something is held up.
    pub(crate) fn is_held(&self) -> bool {
        self.gate.state.lock().unwrap().is_held
    }

    pub(crate) fn let_go(&self) {
        let mut state = self.gate.state.lock().unwrap();
        state.is_held = false;
        state.at = None;
        self.gate.changed.notify_all();
    }
}

impl Gate {
    /// Waits if this message holds it up; tells whether it may pass.
    fn passes(&self, message: &[u8]) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.at.as_ref().is_some_and(|text| contains(message, text)) {
            state.is_held = true;
        }
        while state.is_held {
            state = self.changed.wait(state).unwrap();
        }
        let line = &message[..first_line(message).unwrap_or(message.len())];
        let is_muted = state.muted.iter().any(|text| contains(line, text));
        state.swallowed += usize::from(is_muted);
        !is_muted
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|part| part == text)
}

/// Where the first line ends.
fn first_line(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|part| part == b"\r\n")
}

/// The length of the first message of the protocol, if all of it is there: a line, or a line that says how much follows.
fn message_length(bytes: &[u8]) -> Option<usize> {
    let line = first_line(bytes)?;
    let text = std::str::from_utf8(&bytes[..line]).unwrap();
    let length = match text.split(' ').next() {
        Some("PUB" | "HPUB") => {
            let payload: usize = text.rsplit(' ').next().unwrap().parse().unwrap();
            line + 2 + payload + 2
        }
        _ => line + 2,
    };
    (bytes.len() >= length).then_some(length)
}

fn pass_messages(mut from: TcpStream, mut to: TcpStream, gate: &Gate) {
    let mut buffer = vec![0; 64 << 10];
    let mut pending: Vec<u8> = Vec::new();
    'link: while let Ok(length @ 1..) = from.read(&mut buffer) {
        pending.extend_from_slice(&buffer[..length]);
        while let Some(length) = message_length(&pending) {
            let message: Vec<u8> = pending.drain(..length).collect();
            if gate.passes(&message) && to.write_all(&message).is_err() {
                break 'link;
            }
        }
    }
    end(&from, &to);
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    end(&from, &to);
}

/// The other direction ends with this one.
fn end(from: &TcpStream, to: &TcpStream) {
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
