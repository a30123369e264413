//! Names that exist without a trace in the file: those of IPython in notebooks, and those that frameworks set on a module.

/// Names of IPython besides those with a number: inputs, outputs, and ways out.
const OF_IPYTHON: [&str; 17] = [
    "_",
    "__",
    "___",
    "_i",
    "_ii",
    "_iii",
    "_ih",
    "_oh",
    "_dh",
    "_sh",
    "_exit_code",
    "In",
    "Out",
    "get_ipython",
    "display",
    "exit",
    "quit",
];

/// Whether a notebook predefines the name: also `_1`, the first output, and `_i1`, the first input.
pub(crate) fn is_of_ipython(name: &str) -> bool {
    let number = name.strip_prefix("_i").or_else(|| name.strip_prefix('_')).unwrap_or_default();
    let is_numbered = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    is_numbered || OF_IPYTHON.contains(&name)
}

/// `__name__`: a form that is kept for what is set from outside.
pub(crate) fn is_special(name: &str) -> bool {
    let inner = name.strip_prefix("__").and_then(|it| it.strip_suffix("__"));
    inner.is_some_and(|it| it.bytes().any(|it| it != b'_'))
}
