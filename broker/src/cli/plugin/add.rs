//! `broker plugin add`

use config::{Digest, Source};
use lint::suppress;
use linters::{
    Locked,
    plugins::{listed, not_granted},
};
use plugin_host::Capability;
use signatures::Signed;

use super::{
    project::{Candidate, Project},
    signers::signers_of_arguments,
};
use crate::{CliError, Exit, cli::Session};

/// Add a plugin to the workspace
///
/// Writes `broker.toml`, which says where the plugin comes from, and `broker.lock`, which says which bytes it is. A check runs
/// these bytes and no others, and never fetches anything.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker plugin add tools/no-todo.wasm
  broker plugin add https://example.org/no-todo.wasm --digest sha256:3f1c…
  broker plugin add https://example.org/no-todo.wasm --signed-by RWQROtlO…
  broker plugin add https://example.org/no-todo.wasm --signed-by \"$(cat cosign.pub)\"
  broker plugin add oci://example.org/team/no-todo:1.2.0
  broker plugin add tools/owners.wasm --grant env:TEAM")]
pub(in crate::cli) struct Args {
    /// A path, an `https://` URL, or `oci://` and a reference; a path is remembered as seen from the workspace's root
    source: Source,

    /// Take it only if it has this digest: `sha256:…`
    #[arg(long)]
    digest: Option<Digest>,

    /// Take it only if this signer signed it, now and at each update: a public key of minisign, one in PEM, or
    /// `identity=URL,issuer=URL`; may be repeated for signers any of which is enough, and replaces those in `broker.toml`
    ///
    /// The signature lies beside the plugin: minisign's with `.minisig` added to its name, and a bundle of sigstore, which
    /// keys in PEM and identities sign with, with `.sigstore.json` or `.sigstore`.
    // A key in PEM begins with hyphens.
    #[arg(long, value_name = "SIGNER", allow_hyphen_values = true)]
    signed_by: Vec<String>,

    /// Let it use this beyond the workspace's files: `env:NAME`; may be repeated
    #[arg(long, value_name = "CAPABILITY")]
    grant: Vec<Capability>,
}

pub(in crate::cli) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let signers = signers_of_arguments(&args.signed_by)?;
    let mut project = Project::open(session)?;
    let source = from_root(&args.source, &project, session)?;
    let candidate = project.candidate(&source, args.digest.as_ref(), signers.as_ref(), session)?;
    let name = candidate.locked.name.clone();
    let before = project.declared.get(&name).and_then(|it| it.grants.clone());
    let mut grants = before.unwrap_or_default();
    for grant in &args.grant {
        if !grants.contains(grant) {
            grants.push(grant.clone());
        }
    }
    expect_name_is_free(&name)?;
    expect_granted(&candidate, &grants)?;
    project.take(&candidate, session)?;
    project.declare(&name, &source, signers.as_ref(), &grants);
    // In this order: what stands in the lock file alone does nothing.
    project.write_lock()?;
    project.write_configuration()?;
    let Locked { version, digest, signature, .. } = &candidate.locked;
    session.print(&format!("added {name} {version}, {digest}{}\n", signed_by(signature.as_ref())))?;
    Ok(Exit::Clean)
}

/// Text about a signature, to print after the digest.
pub(super) fn signed_by(signature: Option<&Signed>) -> String {
    signature.map(|it| format!(", signed by {}", it.signer())).unwrap_or_default()
}

/// Deny by default.
pub(super) fn expect_granted(candidate: &Candidate, grants: &[Capability]) -> Result<(), CliError> {
    let manifest = candidate.plugin.manifest();
    let missing = not_granted(manifest, grants);
    if missing.is_empty() {
        return Ok(());
    }
    let error = CliError::plugin(format!(
        "plugin `{}` {} asks for {}, which it is not granted",
        manifest.name,
        manifest.version,
        listed(&missing)
    ));
    let options: Vec<_> = missing.iter().map(|it| format!("--grant {it}")).collect();
    Err(error.hint(format!("if it may have that, `broker plugin add` it with {}", options.join(" "))))
}

/// Rules are named by it, and so are those of Broker itself and of language servers.
pub(super) fn expect_name_is_free(name: &str) -> Result<(), CliError> {
    let is_server = language_servers::profiles().iter().any(|it| it.tool.name == name);
    match name == suppress::LINTER || is_server {
        true => {
            let error = CliError::plugin(format!("a plugin cannot be called `{name}`"));
            Err(error.hint("findings of Broker itself or of a language server are told under this name"))
        }
        false => Ok(()),
    }
}

/// A path was written as seen from the current folder.
fn from_root(source: &Source, project: &Project, session: &Session) -> Result<Source, CliError> {
    let Source::Path(path) = source else { return Ok(source.clone()) };
    let file = session.cwd()?.join(path);
    let real = std::fs::canonicalize(&file)
        .map_err(|error| CliError::files(format!("cannot read {path}: {}", overlay::io_reason(&error))))?;
    let seen = real.strip_prefix(&project.root).unwrap_or(&real);
    let seen =
        seen.to_str().ok_or_else(|| CliError::usage(format!("{path} has a name that is not UTF-8")))?;
    Ok(Source::Path(seen.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn a_key_in_pem_is_an_argument() {
        const PEM: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----";
        let identity = "identity=https://a.example/b@c,issuer=https://d.example";
        let line = ["add", "a.wasm", "--signed-by", PEM, "--signed-by", identity];
        let signers = signers_of_arguments(&Command::parse_from(line).args.signed_by).unwrap().unwrap();
        insta::assert_snapshot!(signers, @"key sha256:a1e9156054e04fac or https://a.example/b@c (issuer https://d.example)");
    }
}
