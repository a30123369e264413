//! A language server that does what its script says, one JSON object a line, and ends with code 99 when the
//! client does something else. When the script is over it ends with code 0.
//!
//! - `{"expect": METHOD}`: the next message is this one; with `"with": PARAMS`, with these. With `"answer":
//!   RESULT` or `"refuse": ERROR` the request is answered; without, it waits for `{"reply": METHOD, …}`.
//! - `{"send": NOTIFICATION}`, `{"ask": REQUEST, "wants": RESULT}` or `"refused": CODE`;
//!   `{"flood": COUNT, "send"|"ask": …}` does not wait for answers.
//! - `{"raw": TEXT}`, `{"big": BYTES}` (a notification), `{"stderr": TEXT}`.
//! - `{"spawn": "session"|"orphan"}`, `{"tell": "family"|"self"}` (a notification).
//! - `{"wait-for": FILE}`: goes on when the file is there. `{"once": FILE, "do": [STEP, …]}`: only
//!   where the file is not there yet, which then is.
//! - `{"exit": CODE}`, `{"die": true}`, `{"hang": true}`, `{"close-output": true}`, `{"stop-supervisor": true}`.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    fs::File,
    io::{BufRead, BufReader, StdinLock, Write},
    process::exit,
};

use rustix::process::{Signal, getpgid, getpid, getppid, getpriority_process, kill_process};
use serde_json::{Value, json};

use crate::family;

struct Fake {
    input: BufReader<StdinLock<'static>>,
    /// Requests that have no answer yet: method and id, in the order they came.
    waiting: Vec<(String, Value)>,
    family: Vec<i32>,
}

pub(crate) fn run(script: &str) {
    let input = BufReader::new(std::io::stdin().lock());
    let mut fake = Fake { input, waiting: Vec::new(), family: Vec::new() };
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let step: Value =
            serde_json::from_str(line).unwrap_or_else(|error| fail(&format!("{line}: {error}")));
        fake.step(&step);
    }
}

pub(crate) fn fail(what: &str) -> ! {
    eprintln!("fake: {what}");
    exit(99);
}

impl Fake {
    fn step(&mut self, step: &Value) {
        let has = |key: &str| step.get(key).is_some();
        let text = |key: &str| step[key].as_str().unwrap_or_else(|| fail(&format!("{step}: no text")));
        let number = |key: &str| step[key].as_u64().unwrap_or_else(|| fail(&format!("{step}: no number")));
        if has("once") {
            if File::create_new(text("once")).is_ok() {
                step["do"].as_array().unwrap().iter().for_each(|it| self.step(it));
            }
        } else if has("flood") {
            self.flood(number("flood"), step);
        } else if has("expect") {
            self.expect(text("expect"), step);
        } else if has("reply") {
            self.reply(text("reply"), step);
        } else if has("send") {
            write(&step["send"]);
        } else if has("ask") {
            self.ask(step);
        } else if has("raw") {
            put(text("raw").as_bytes());
        } else if has("big") {
            big(usize::try_from(number("big")).unwrap());
        } else if has("stderr") {
            eprintln!("{}", text("stderr"));
        } else if has("spawn") {
            self.family.push(family::spawn(text("spawn")));
        } else if has("wait-for") {
            family::wait_for(text("wait-for"));
        } else if has("tell") {
            self.tell(text("tell"));
        } else {
            end(step);
        }
    }

    fn expect(&mut self, method: &str, step: &Value) {
        let message = self.read();
        if message["method"] != method || step.get("with").is_some_and(|it| message["params"] != *it) {
            fail(&format!("expected {step}, got {message}"));
        }
        if let Some(id) = message.get("id") {
            self.waiting.push((method.to_owned(), id.clone()));
            if step.get("answer").is_some() || step.get("refuse").is_some() {
                self.reply(method, step);
            }
        }
    }

    /// Replies to the newest request of this method, if it has no answer yet.
    fn reply(&mut self, method: &str, step: &Value) {
        let at = self.waiting.iter().rposition(|it| it.0 == method);
        let at = at.unwrap_or_else(|| fail(&format!("{step}: nobody has asked")));
        let (_, id) = self.waiting.remove(at);
        let mut answer = json!({ "jsonrpc": "2.0", "id": id });
        for (key, name) in [("answer", "result"), ("refuse", "error")] {
            if let Some(value) = step.get(key) {
                answer[name] = value.clone();
            }
        }
        write(&answer);
    }

    fn ask(&mut self, step: &Value) {
        write(&step["ask"]);
        let answer = self.read();
        let is_wanted = match step.get("refused") {
            Some(code) => answer["error"]["code"] == *code,
            None => answer.get("result") == step.get("wants"),
        };
        if answer["id"] != step["ask"]["id"] || !is_wanted {
            fail(&format!("{step}: got {answer}"));
        }
    }

    fn flood(&mut self, count: u64, step: &Value) {
        let message = step.get("send").or(step.get("ask")).unwrap();
        for _ in 0..count {
            write(message);
        }
    }

    fn tell(&self, what: &str) {
        let me = getpid();
        let params = match what {
            "family" => self.family.iter().copied().chain([me.as_raw_nonzero().get()]).collect(),
            "self" => json!({
                "leads-group": getpgid(None) == Ok(me),
                "nice": getpriority_process(None).unwrap(),
                "cwd": std::env::current_dir().unwrap(),
                "given": std::env::var("GIVEN").ok(),
                "path": std::env::var("PATH").ok(),
            }),
            other => fail(&format!("tell {other}?")),
        };
        write(&json!({ "method": format!("fake/{what}"), "params": params }));
    }

    fn read(&mut self) -> Value {
        read(&mut self.input).unwrap_or_else(|| fail("the input ended"))
    }
}

/// `None` at the end.
pub(crate) fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", it)) => length = it.parse().unwrap(),
            _ => break,
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}

fn end(step: &Value) {
    let keys: Vec<_> = step.as_object().unwrap().keys().map(String::as_str).collect();
    match keys[..] {
        ["exit"] => exit(i32::try_from(step["exit"].as_i64().unwrap()).unwrap()),
        ["die"] => kill_process(getpid(), Signal::KILL).unwrap(),
        ["hang"] => family::stay(),
        ["close-output"] => {
            let nothing = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
            rustix::stdio::dup2_stdout(nothing).unwrap();
        }
        ["stop-supervisor"] => kill_process(getppid().unwrap(), Signal::STOP).unwrap(),
        _ => fail(&format!("{step}: no such step")),
    }
}

pub(crate) fn write(message: &Value) {
    let body = message.to_string();
    put(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
}

/// A notification of exactly so many bytes.
fn big(bytes: usize) {
    let empty = json!({ "method": "fake/big", "params": [""] }).to_string().len();
    write(&json!({ "method": "fake/big", "params": ["x".repeat(bytes - empty)] }));
}

/// A reader that does not read to the end is no failure.
fn put(bytes: &[u8]) {
    let mut output = std::io::stdout().lock();
    if output.write_all(bytes).and_then(|()| output.flush()).is_err() {
        exit(0);
    }
}
