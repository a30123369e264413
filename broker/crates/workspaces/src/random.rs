//! Unguessable identifiers.

use super::DaemonError;

/// 128 bits from the operating system, in hex.
pub fn handle() -> Result<String, DaemonError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| DaemonError::Io {
        message: "the system has no random numbers".to_owned(),
        source: error.into(),
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
