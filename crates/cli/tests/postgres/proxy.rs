//! A proxy for a server. A test can make it slow or silent, or let it close the connection at a commit.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Way {
    Open,
    /// The proxy delays every message in both directions.
    Slow,
    /// The proxy accepts connections and never answers.
    Silent,
    /// The commit reaches the server, but its answer is lost. Later connections work.
    CutAfterCommit,
    /// The commit is lost before it reaches the server. Later connections work.
    CutBeforeCommit,
    /// The answer to the commit is lost, and later connections fail.
    CutForGood,
    /// The proxy stops passing data for a client that has its turn, and keeps the connection open.
    VanishInTurn,
    /// The connection fails at the eighth commit. All later connections fail, too.
    EighthCommitFails,
    Closed,
}

const WAYS: [Way; 9] = [
    Way::Open,
    Way::Slow,
    Way::Silent,
    Way::CutAfterCommit,
    Way::CutBeforeCommit,
    Way::CutForGood,
    Way::VanishInTurn,
    Way::EighthCommitFails,
    Way::Closed,
];

#[derive(Clone)]
pub struct Proxy {
    pub port: u16,
    way: Arc<AtomicU8>,
    commits: Arc<AtomicUsize>,
}

impl Proxy {
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Self { port, way: Arc::new(AtomicU8::new(Way::Open as u8)), commits: Arc::default() };
        let own = proxy.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let proxy = own.clone();
                std::thread::spawn(move || proxy.carry(client, server));
            }
        });
        proxy
    }

    pub fn set(&self, way: Way) {
        self.commits.store(0, Ordering::SeqCst);
        self.way.store(way as u8, Ordering::SeqCst);
    }

    fn way(&self) -> Way {
        WAYS[usize::from(self.way.load(Ordering::SeqCst))]
    }

    fn carry(&self, client: TcpStream, server: u16) {
        if self.way() == Way::Closed {
            return;
        }
        let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { return };
        let (to, from) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let back = self.clone();
        let is_muted = Arc::new(AtomicBool::new(false));
        let muted = Arc::clone(&is_muted);
        let answers = std::thread::spawn(move || back.answer(server, client, &muted));
        self.ask(from, to, &is_muted);
        let _ = answers.join();
    }

    /// Passes data from the server to the client. After it is muted, it passes nothing, and closes the
    /// connection at the answer to the commit.
    fn answer(&self, mut from: TcpStream, mut to: TcpStream, is_muted: &AtomicBool) {
        let mut buffer = vec![0_u8; 64 * 1024];
        while let Ok(count) = from.read(&mut buffer) {
            let bytes = &buffer[..count];
            if self.way() == Way::Slow {
                std::thread::sleep(Duration::from_millis(20));
            }
            if is_muted.load(Ordering::SeqCst) {
                if count == 0 || bytes.windows(7).any(|part| part == b"COMMIT\0") {
                    self.set(if self.way() == Way::CutForGood { Way::Closed } else { Way::Open });
                    break;
                }
            } else if count == 0 || to.write_all(bytes).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    fn ask(&self, mut from: TcpStream, mut to: TcpStream, is_muted: &AtomicBool) {
        let mut buffer = vec![0_u8; 64 * 1024];
        while let Ok(count) = from.read(&mut buffer) {
            if count == 0 {
                break;
            }
            let bytes = &buffer[..count];
            let commits = bytes.windows(7).any(|part| part == b"COMMIT\0");
            match self.way() {
                Way::Slow => std::thread::sleep(Duration::from_millis(20)),
                Way::Silent => {
                    // The connection stays open until the client gives up.
                    while from.read(&mut buffer).is_ok_and(|count| count > 0) {}
                    break;
                }
                Way::CutBeforeCommit if commits => {
                    self.set(Way::Open);
                    break;
                }
                Way::CutAfterCommit | Way::CutForGood if commits => {
                    is_muted.store(true, Ordering::SeqCst);
                    let _ = to.write_all(bytes);
                    return;
                }
                Way::VanishInTurn if bytes.windows(13).any(|part| part == b"leftoff.take(") => {
                    let _ = to.write_all(bytes);
                    while self.way() == Way::VanishInTurn {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    break;
                }
                Way::EighthCommitFails if commits && self.commits.fetch_add(1, Ordering::SeqCst) == 7 => {
                    self.set(Way::Closed);
                    break;
                }
                Way::Open
                | Way::Closed
                | Way::CutAfterCommit
                | Way::CutBeforeCommit
                | Way::CutForGood
                | Way::VanishInTurn
                | Way::EighthCommitFails => {}
            }
            if to.write_all(bytes).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}
