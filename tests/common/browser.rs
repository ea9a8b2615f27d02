//! A headless browser under control of a test: Chromium's DevTools protocol over a pair of pipes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A page in a running browser.
pub struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    number: u64,
    events: VecDeque<Value>,
    folder: PathBuf,
}

impl Browser {
    /// Starts the program at `path` with a window of this size, with its files in `folder`.
    pub fn start(path: &Path, folder: &Path, [width, height]: [u32; 2]) -> Browser {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).expect("a folder");
        let (to, from) = (folder.join("to"), folder.join("from"));
        let made = Command::new("mkfifo").args([&to, &from]).status();
        assert!(made.expect("mkfifo runs").success());
        // The protocol's messages go through descriptors 3 and 4.
        let child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<"$TO" 4>"$FROM""#])
            .arg(path)
            .args(["--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args(["--remote-debugging-pipe", "--no-first-run"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!(
                "--user-data-dir={}",
                folder.join("profile").display()
            ))
            .env("TO", &to)
            .env("FROM", &from)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh runs");
        let to = File::options().write(true).open(to).expect("a pipe");
        let from = BufReader::new(File::open(from).expect("a pipe"));
        let mut browser = Browser {
            child,
            to,
            from,
            session: None,
            number: 0,
            events: VecDeque::new(),
            folder: folder.to_owned(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime", "Log", "Page", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method of the protocol.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let number = self.number;
        let mut message = json!({ "id": number, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to
            .write_all(format!("{message}\0").as_bytes())
            .and_then(|()| self.to.flush())
            .expect("the browser listens");
        loop {
            let answer = self.receive();
            if answer["id"] == json!(number) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    fn receive(&mut self) -> Value {
        let mut text = Vec::new();
        self.from
            .read_until(0, &mut text)
            .expect("the browser answers");
        assert_eq!(text.pop(), Some(0), "the browser ended");
        serde_json::from_slice(&text).expect("a message")
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, page: &Path) {
        let url = format!("file://{}", page.display());
        let answer = self.call("Page.navigate", json!({ "url": url }));
        assert!(answer["errorText"].is_null(), "{}", answer["errorText"]);
        loop {
            let known = self
                .events
                .iter()
                .any(|e| e["method"] == "Page.loadEventFired");
            if known {
                return;
            }
            let event = self.receive();
            self.events.push_back(event);
        }
    }

    /// The value of an expression of the page's language.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", params);
        let failed = &answer["exceptionDetails"];
        assert!(failed.is_null(), "{expression}: {failed}");
        answer["result"]["value"].clone()
    }

    /// The value of an expression once it is right, or the last one seen in a minute: what a click, a key or
    /// the pointer causes may show only in a later frame.
    pub fn settle(&mut self, expression: &str, right: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let value = self.evaluate(expression);
            if right(&value) || start.elapsed() > Duration::from_secs(60) {
                return value;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({ "type": kind, "key": key });
            if key.len() == 1 && kind == "keyDown" {
                params["text"] = json!(key);
            }
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Moves the pointer, and presses its button there if that is wanted.
    pub fn point(&mut self, x: f64, y: f64, click: bool) {
        let kinds: &[&str] = match click {
            true => &["mouseMoved", "mousePressed", "mouseReleased"],
            false => &["mouseMoved"],
        };
        for kind in kinds {
            let button = if *kind == "mouseMoved" {
                "none"
            } else {
                "left"
            };
            let params = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    /// What went wrong since the page was opened: exceptions, errors and warnings on the console, requests.
    pub fn complaints(&mut self) -> Vec<String> {
        // An answer comes after what the page has said until now.
        self.evaluate("0");
        let bad = |event: &Value| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" => {
                    let loud = ["error", "warning", "assert"].contains(&params["type"].as_str()?);
                    loud.then(|| params["args"].to_string())
                }
                "Log.entryAdded" => Some(params["entry"].to_string()),
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str()?;
                    (!url.starts_with("file:")).then(|| format!("asks for {url}"))
                }
                _ => None,
            }
        };
        self.events.iter().filter_map(bad).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
