//! `broker agent tool`

use std::io::Read as _;

use agents::{Call, ToolInfo};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{AnswerFormat, Session, json};
use crate::{CliError, Exit};

/// Call one of the tools that agents have, on a branch
///
/// The same tools as `broker agent mcp` offers, for scripts and for agents without MCP. Without a NAME, lists them. Calls of one
/// `--session` share a branch, which their first edit makes. Exits with 1 if the tool refuses, which the answer explains.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Such as `read_file`
    name: Option<String>,

    /// The arguments, a JSON object; `-` reads them from standard input
    #[arg(long, value_name = "ARGUMENTS", default_value = "{}", requires = "name")]
    json: String,

    /// The session, whose branch is used unless the arguments name one
    #[arg(long, value_name = "NAME", default_value = "cli")]
    session: String,

    /// `json` has the answer as data
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Serialize)]
struct Answered {
    text: String,
    structured: Map<String, Value>,
    is_error: bool,
}

#[derive(Serialize)]
struct Listed {
    name: String,
    description: String,
    input_schema: Map<String, Value>,
    output_schema: Map<String, Value>,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, CliError> {
    let opened = session.open()?;
    let Some(tool) = args.name else {
        let tools = opened.client.wait(opened.client.tools().list_tools())?.tools;
        session.print(&listed(tools, args.output_format))?;
        return Ok(Exit::Clean);
    };
    let mut arguments = args.json;
    if arguments == "-" {
        arguments.clear();
        std::io::stdin()
            .read_to_string(&mut arguments)
            .map_err(|error| CliError::files(format!("cannot read standard input: {error}")))?;
    }
    let call = Call {
        workspace: opened.id.clone(),
        session: args.session,
        branch: None,
        tool,
        arguments: object(&arguments)?,
        deadline: None,
        traceparent: None,
    };
    let answer = opened.client.wait(opened.client.tools().call_tool(call))?;
    let exit = if answer.is_error { Exit::Findings } else { Exit::Clean };
    let text = match args.output_format {
        AnswerFormat::Text => format!("{}\n", answer.text.trim_end()),
        AnswerFormat::Json => {
            json(&Answered { text: answer.text, structured: answer.structured, is_error: answer.is_error })
        }
    };
    session.print_text(&text)?;
    Ok(exit)
}

fn listed(tools: Vec<ToolInfo>, format: AnswerFormat) -> String {
    if format == AnswerFormat::Text {
        return tools.iter().map(|it| format!("{}: {}\n", it.name, it.description)).collect();
    }
    let listed = tools.into_iter().map(|it| Listed {
        input_schema: it.input,
        output_schema: it.output,
        name: it.name.into_owned(),
        description: it.description.into_owned(),
    });
    json(&listed.collect::<Vec<_>>())
}

/// Parses the arguments of a tool. An empty text means no arguments.
fn object(text: &str) -> Result<Map<String, Value>, CliError> {
    if text.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(text)
        .map_err(|error| CliError::usage(format!("arguments: they are no JSON object: {error}")))
}
