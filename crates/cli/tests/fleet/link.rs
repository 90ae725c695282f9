//! A way to the server that can be held up at a chosen moment, and let go again.
//!
//! Bytes pass as they are, in both directions. What the client sends is looked at: before the first message that contains
//! the chosen text is passed on, everything from the client waits.

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
    /// What holds it up.
    at: Option<Vec<u8>>,
    is_held: bool,
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
                thread::spawn(move || pass(client, server, Some(&gate)));
                thread::spawn(move || pass(from_server, to_client, None));
            }
        });
        link
    }

    /// The address for clients.
    pub(crate) fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    /// From now on the first message with this text holds the client up.
    pub(crate) fn hold_at(&self, text: &str) {
        self.gate.state.lock().unwrap().at = Some(text.as_bytes().to_vec());
    }

    /// Whether something is held up.
    pub(crate) fn is_held(&self) -> bool {
        self.gate.state.lock().unwrap().is_held
    }

    /// Lets everything pass again.
    pub(crate) fn let_go(&self) {
        let mut state = self.gate.state.lock().unwrap();
        state.is_held = false;
        state.at = None;
        self.gate.changed.notify_all();
    }
}

impl Gate {
    /// Waits if these bytes, after those that went before, hold it up.
    fn wait(&self, seen: &[u8]) {
        let mut state = self.state.lock().unwrap();
        let is_it =
            state.at.as_ref().is_some_and(|text| seen.windows(text.len()).any(|part| part == text));
        if is_it {
            state.is_held = true;
        }
        while state.is_held {
            state = self.changed.wait(state).unwrap();
        }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, gate: Option<&Gate>) {
    let mut buffer = vec![0; 64 << 10];
    // A text may be cut in two between reads.
    let mut tail: Vec<u8> = Vec::new();
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if let Some(gate) = gate {
            tail.extend_from_slice(&buffer[..length]);
            gate.wait(&tail);
            tail.drain(..tail.len().saturating_sub(256));
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    // The other direction ends with this one.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
