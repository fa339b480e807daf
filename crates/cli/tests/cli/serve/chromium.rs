//! Runs Chromium without a window. It is controlled over two pipes with its debugging protocol: JSON
//! documents with zero bytes between them.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Sandbox, left_out};

pub struct Chromium {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Value,
    last: u64,
}

impl Chromium {
    /// Starts the browser. If this machine has no chromium, records that and returns `None`.
    pub fn start(sandbox: &Sandbox) -> Option<Self> {
        let named = std::env::var("LEFTOFF_TEST_CHROMIUM").ok();
        let names = named.iter().map(String::as_str).chain(["chromium", "chromium-browser", "google-chrome"]);
        let is_there = |name: &&str| {
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        };
        let Some(program) = names.into_iter().find(is_there).map(ToOwned::to_owned) else {
            left_out("the page in a browser: chromium could not be found or installed");
            return None;
        };
        let (to, from) = (sandbox.folder().join("to-browser"), sandbox.folder().join("from-browser"));
        let made = Command::new("mkfifo").args([&to, &from]).status().expect("mkfifo");
        assert!(made.success());
        // The shell must open the pipes in the same order as this process.
        let line = "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\"";
        let profile = format!("--user-data-dir={}", sandbox.folder().join("browser").display());
        let child = Command::new("sh")
            .args(["-c", line, &program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args([
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .args([
                "--disable-extensions",
                "--disable-sync",
                "--remote-debugging-pipe",
                &profile,
                "about:blank",
            ])
            .env("TO", &to)
            .env("FROM", &from)
            .env("HOME", sandbox.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let to = OpenOptions::new().write(true).open(&to).expect("a pipe");
        let from = BufReader::new(File::open(&from).expect("a pipe"));
        let mut browser = Self { child, to, from, session: Value::Null, last: 0 };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].clone();
        browser.call("Page.enable", &json!({}));
        // Allows actions that need a page with the focus, such as using the clipboard.
        browser.call("Emulation.setFocusEmulationEnabled", &json!({"enabled": true}));
        Some(browser)
    }

    pub fn open(&mut self, address: &str) {
        let answer = self.call("Page.navigate", &json!({ "url": address }));
        assert!(answer.get("errorText").is_none(), "{address}: {answer}");
        self.until("document.readyState === 'complete'");
    }

    pub fn set_cookie(&mut self, name: &str, value: &str, address: &str) {
        let cookie =
            json!({"name": name, "value": value, "url": address, "httpOnly": true, "sameSite": "Strict"});
        self.call("Network.setCookie", &cookie);
    }

    pub fn allow_clipboard(&mut self, origin: &str) {
        let wanted = ["clipboardReadWrite", "clipboardSanitizedWrite"];
        self.call("Browser.grantPermissions", &json!({"origin": origin, "permissions": wanted}));
    }

    pub fn emulate(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"}
        ]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Clicks the middle of an element when the page contains it.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        self.until(&format!("document.querySelector({selector:?})"));
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView(); const b = e.getBoundingClientRect(); return (b.x + b.width / 2) + ',' + (b.y + b.height / 2); }})()"
        ));
        let (x, y) = place.split_once(',').expect("a place");
        let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// The value of a JavaScript expression, as text.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> String {
        let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let answer = self.call("Runtime.evaluate", &asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        match &answer["result"]["value"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Waits until a JavaScript expression is true.
    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        let end = Instant::now() + Duration::from_mins(1);
        // A page does not answer while the browser is leaving it.
        let asked = json!({"expression": format!("Boolean({expression})"), "returnByValue": true});
        while self.call("Runtime.evaluate", &asked)["result"]["value"] != json!(true) {
            if Instant::now() > end {
                let page = self.eval("document.body.innerText");
                panic!("{expression} did not come true on\n{page}");
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_null() && !method.starts_with("Browser.") {
            message["sessionId"] = self.session.clone();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let mut answer = Vec::new();
            let read = self.from.read_until(0, &mut answer).expect("the browser answers");
            assert!(read > 0, "the browser ended at {method}");
            answer.pop();
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            if answer["id"] == json!(self.last) {
                return answer.get("result").cloned().unwrap_or(answer);
            }
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
