//! Answers of a hook to its agent, in the agent's format.

use serde_json::{Value, json};

use super::{
    ask::Findings,
    event::{Dialect, Event, Moment},
};

/// The answer, on one line. With `block`, errors keep the edit from being made, or have it mended.
pub(super) fn of(event: &Event, found: Option<&Findings>, block: bool) -> String {
    let answer = match found {
        Some(found) if !found.is_clean => say(event, found, block && found.has_errors && found.is_new_only),
        _ => json!({}),
    };
    format!("{answer}\n")
}

fn say(event: &Event, found: &Findings, refuse: bool) -> Value {
    let text = format!("Broker: {}\n{}", heading(event.moment, found), found.text);
    match (event.dialect, event.moment, refuse) {
        (Dialect::Claude, Moment::Before, true) => json!({ "hookSpecificOutput": {
            "hookEventName": event.name(), "permissionDecision": "deny", "permissionDecisionReason": text,
        } }),
        (Dialect::Claude, Moment::After, true) => json!({ "decision": "block", "reason": text }),
        (Dialect::Claude, _, false) => {
            json!({ "hookSpecificOutput": { "hookEventName": event.name(), "additionalContext": text } })
        }
        (Dialect::Cursor, Moment::Before, true) => json!({ "permission": "deny", "agent_message": text }),
        // No linter decides whether the edit may be made without a question.
        (Dialect::Cursor, Moment::Before, false) => json!({ "agent_message": text }),
        (Dialect::Cursor, Moment::After, _) => json!({ "additional_context": text }),
        (Dialect::CursorFileEdited, ..) => json!({}),
    }
}

fn heading(moment: Moment, found: &Findings) -> &'static str {
    match (moment, found.is_new_only) {
        _ if found.is_empty => "nothing is found, but not all could be checked",
        (Moment::Before, _) => "this edit would bring",
        (Moment::After, true) => "this edit brought",
        (Moment::After, false) => "what was there before this edit is not known; the files have now",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(moment: Moment, dialect: Dialect) -> Event {
        Event { moment, dialect, folder: None, edit: None }
    }

    #[test]
    fn each_agent_has_its_format() {
        let found = Findings {
            text: "1 new finding".to_owned(),
            is_clean: false,
            is_empty: false,
            has_errors: true,
            is_new_only: true,
        };
        let mut all = String::new();
        for (moment, dialect) in [
            (Moment::Before, Dialect::Claude),
            (Moment::After, Dialect::Claude),
            (Moment::Before, Dialect::Cursor),
            (Moment::After, Dialect::Cursor),
            (Moment::After, Dialect::CursorFileEdited),
        ] {
            for block in [false, true] {
                all.push_str(&of(&event(moment, dialect), Some(&found), block));
            }
        }
        insta::assert_snapshot!(all, @r#"
        {"hookSpecificOutput":{"additionalContext":"Broker: this edit would bring\n1 new finding","hookEventName":"PreToolUse"}}
        {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Broker: this edit would bring\n1 new finding"}}
        {"hookSpecificOutput":{"additionalContext":"Broker: this edit brought\n1 new finding","hookEventName":"PostToolUse"}}
        {"decision":"block","reason":"Broker: this edit brought\n1 new finding"}
        {"agent_message":"Broker: this edit would bring\n1 new finding"}
        {"agent_message":"Broker: this edit would bring\n1 new finding","permission":"deny"}
        {"additional_context":"Broker: this edit brought\n1 new finding"}
        {"additional_context":"Broker: this edit brought\n1 new finding"}
        {}
        {}
        "#);
    }

    #[test]
    fn nothing_new_is_nothing_to_say() {
        let clean = Findings {
            text: "ok".to_owned(),
            is_clean: true,
            is_empty: true,
            has_errors: false,
            is_new_only: true,
        };
        let event = event(Moment::After, Dialect::Claude);
        assert_eq!(of(&event, Some(&clean), true), "{}\n");
        assert_eq!(of(&event, None, true), "{}\n");
        let unchecked = Findings { is_clean: false, ..clean.clone() };
        insta::assert_snapshot!(of(&event, Some(&unchecked), true), @r#"{"hookSpecificOutput":{"additionalContext":"Broker: nothing is found, but not all could be checked\nok","hookEventName":"PostToolUse"}}"#);
        let old =
            Findings { is_clean: false, is_empty: false, has_errors: true, is_new_only: false, ..clean };
        insta::assert_snapshot!(of(&event, Some(&old), true), @r#"{"hookSpecificOutput":{"additionalContext":"Broker: what was there before this edit is not known; the files have now\nok","hookEventName":"PostToolUse"}}"#);
    }
}
