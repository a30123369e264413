//! The table of tools: one row has all that fronts and callers need to know of a tool.

use std::{borrow::Cow, future::Future, pin::Pin};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    arguments,
    context::Context,
    reply::{Answer, Reply, ToolError},
    schema,
};

/// Effect that a call may have, as clients ask their user about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Reads,
    /// Changes a branch, in a way that can be undone.
    Edits,
    /// Changes a branch like `Edits`, and a second call with the same arguments changes nothing more.
    EditsOnce,
    /// Cannot be undone.
    Destroys,
    /// Runs a program of the user's.
    Runs,
}

/// A tool as it is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    pub name: Cow<'static, str>,
    pub description: Cow<'static, str>,
    pub effect: Effect,
    pub input: Map<String, Value>,
    pub output: Map<String, Value>,
}

type Answering = Pin<Box<dyn Future<Output = Result<Reply, ToolError>> + Send>>;

/// A tool: what is listed of it, and what answers.
pub(crate) struct Tool {
    pub(crate) info: ToolInfo,
    answer: Box<dyn Fn(Context, Value) -> Answering + Send + Sync>,
}

impl Tool {
    pub(crate) fn new<P, A, F>(
        name: &'static str,
        effect: Effect,
        description: &'static str,
        answer: fn(Context, P) -> F,
    ) -> Self
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        A: Answer,
        F: Future<Output = Result<A, ToolError>> + Send + 'static,
    {
        let info = ToolInfo {
            name: Cow::Borrowed(name),
            description: Cow::Borrowed(description),
            effect,
            input: schema::of_input::<P>(),
            output: schema::of_output::<A>(),
        };
        let answer = move |context: Context, arguments: Value| -> Answering {
            Box::pin(async move {
                let arguments = parse(name, arguments)?;
                Reply::of(&answer(context, arguments).await?)
            })
        };
        Self { info, answer: Box::new(answer) }
    }

    /// Answers a call with arguments as a client sent them.
    pub(crate) async fn call(
        &self,
        context: Context,
        arguments: Map<String, Value>,
    ) -> Result<Reply, ToolError> {
        let root = context.daemon.root_of(&context.workspace)?;
        let given = arguments::normalised(&self.info.name, &self.info.input, arguments, &root)?;
        if let Some(name) = given.unknown.first().filter(|_| self.info.effect == Effect::Destroys) {
            let unknown = format!("arguments of `{}`: `{name}` is none of them", self.info.name);
            return Err(ToolError::new(unknown).hint(self.takes()));
        }
        let reply = (self.answer)(context, given.arguments).await?;
        Ok(reply.noting(given.unknown.iter().map(|it| format!("`{it}` was ignored: {}", self.takes()))))
    }

    /// The names of its arguments, in words.
    fn takes(&self) -> String {
        let fields = self.info.input.get("properties").and_then(Value::as_object);
        let names: Vec<_> = fields.into_iter().flat_map(Map::keys).cloned().collect();
        match names.as_slice() {
            [] => "the tool takes no arguments".to_owned(),
            names => format!("the arguments are {}", names.join(", ")),
        }
    }
}

fn parse<P: DeserializeOwned>(tool: &str, arguments: Value) -> Result<P, ToolError> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let at = match error.path().iter().next() {
            Some(_) => format!("`{}`: ", error.path()),
            None => String::new(),
        };
        ToolError::new(format!("arguments of `{tool}`: {at}{}", error.inner()))
            .hint("see the tool's input schema")
    })
}
