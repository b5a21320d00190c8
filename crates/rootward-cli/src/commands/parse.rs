//! `rootward parse FILE|URL|-`: how the aggregator would read an answer, and why.

use std::fs::File;
use std::io::{self, Read};

use http::HeaderValue;
use http::header::ACCEPT;
use rootward_fetch::{Limits, Request, Target, fetch};
use rootward_formats::{ACCEPT as ACCEPTED, Answer, MAX_BODY_BYTES, Reading, read};
use serde_json::{Map, Value, json};

use crate::arguments::Parse;
use crate::commands::small_runtime;
use crate::exit::Exit;
use crate::render;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

/// What was received, owned.
struct Received {
    body: Vec<u8>,
    http_status: Option<u16>,
    headers: Vec<(String, String)>,
}

pub(crate) fn run(arguments: &Parse, terminal: &Terminal) -> Result<Exit, Trouble> {
    let received = if is_url(&arguments.source) {
        asked(arguments)?
    } else {
        Received {
            body: from_file(&arguments.source)?,
            http_status: arguments.http_status,
            headers: arguments.headers.clone(),
        }
    };
    let headers: Vec<(&str, &str)> = received
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let mut answer = Answer::new(&received.body).headers(&headers);
    if let Some(code) = received.http_status {
        answer = answer.http_status(code);
    }
    if let Some(content_type) = &arguments.content_type {
        answer = answer.content_type(content_type);
    }
    if let Some(code) = arguments.grpc_code {
        answer = answer.grpc_code(code);
    }
    if let Some(code) = arguments.exit_code {
        answer = answer.exit_code(code);
    }
    let reading = read(&answer, arguments.format);
    if arguments.json {
        Terminal::put(format!("{}\n", as_json(&reading)).as_bytes())?;
    } else {
        terminal.show(&render::reading::page(&reading))?;
    }
    Ok(Exit::Well)
}

/// In the words of `fixtures/health-formats`: what there is nothing to say about is left out.
fn as_json(reading: &Reading) -> Value {
    let category = |category: Option<rootward_core::ErrorCategory>| {
        category.map(|category| ("error_category".to_owned(), json!(category.as_str())))
    };
    let components: Vec<Value> = reading
        .components
        .iter()
        .map(|component| {
            let mut fields = Map::new();
            fields.insert("name".to_owned(), json!(component.name));
            fields.insert("status".to_owned(), json!(component.status.as_str()));
            fields.extend(category(component.error_category));
            Value::Object(fields)
        })
        .collect();
    let mut fields = Map::new();
    fields.insert("format".to_owned(), json!(reading.format.as_str()));
    fields.insert("overall".to_owned(), json!(reading.overall.as_str()));
    fields.insert("components".to_owned(), Value::Array(components));
    fields.extend(category(reading.error_category));
    fields.insert("malformed".to_owned(), json!(reading.is_malformed()));
    fields.insert("why".to_owned(), json!(reading.why));
    Value::Object(fields)
}

/// Whether the source is to be asked: anything with a scheme, so that a wrong one is not looked for as a file.
fn is_url(source: &str) -> bool {
    source.contains("://")
}

fn asked(arguments: &Parse) -> Result<Received, Trouble> {
    if arguments.http_status.is_some()
        || arguments.content_type.is_some()
        || !arguments.headers.is_empty()
    {
        return Err(Trouble::new(
            Exit::WrongInput,
            "a URL brings its own code, content type and headers: --http-status, --content-type and --header are for files",
        ));
    }
    let target = Target::parse(&arguments.source).map_err(|error| {
        Trouble::new(
            Exit::WrongInput,
            format!("the URL cannot be asked: {error}"),
        )
        .with_help("write it like http://127.0.0.1:8080/actuator/health")
    })?;
    let limits = Limits {
        deadline: arguments.timeout,
        max_body_bytes: MAX_BODY_BYTES,
    };
    let headers = [(ACCEPT, HeaderValue::from_static(ACCEPTED))];
    let mut request = Request::get(&target);
    request.headers = &headers;
    let runtime = small_runtime()?;
    let answer = runtime.block_on(fetch(&request, &limits));
    // A name lookup that hangs in the system's resolver cannot be cancelled; the process does not wait for it.
    runtime.shutdown_background();
    let answer = answer.map_err(|error| {
        Trouble::new(
            Exit::NotReached,
            format!("no answer from {target}: {error}"),
        )
    })?;
    let headers = answer.headers.iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    });
    Ok(Received {
        http_status: Some(answer.status),
        headers: headers.collect(),
        body: answer.body.to_vec(),
    })
}

/// A file, or standard input. One byte more than is read of an answer, which tells that there is more.
fn from_file(source: &str) -> Result<Vec<u8>, Trouble> {
    let limit = MAX_BODY_BYTES as u64 + 1;
    let mut body = Vec::new();
    let read = if source == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut body)
    } else {
        File::open(source).and_then(|file| file.take(limit).read_to_end(&mut body))
    };
    let name = if source == "-" {
        "standard input"
    } else {
        source
    };
    read.map_err(|error| Trouble::of_input(name, &error))?;
    Ok(body)
}
