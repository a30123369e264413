//! Comment syntax by the file's name, and of scripts without an extension.

use overlay::WorkspacePath;

use crate::interpreter;

/// A language's comments, as far as a line shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comments {
    /// Marks that begin a comment to the end of the line.
    pub(super) line: &'static [&'static str],
    /// Marks that begin a comment, and that end it.
    pub(super) block: &'static [(&'static str, &'static str)],
    /// Marks that begin and end a string.
    pub(super) quotes: &'static [u8],
}

const fn comments(
    line: &'static [&'static str],
    block: &'static [(&'static str, &'static str)],
    quotes: &'static [u8],
) -> Comments {
    Comments { line, block, quotes }
}

const BOTH: &[u8] = b"\"'";
const ALL: &[u8] = b"\"'`";
const DOUBLE: &[u8] = b"\"";
const C_BLOCK: (&str, &str) = ("/*", "*/");
const XML_BLOCK: (&str, &str) = ("<!--", "-->");
const ML_BLOCK: (&str, &str) = ("(*", "*)");

/// Extensions, separated by spaces, and whole file names in lower case.
const LANGUAGES: &[(&str, Comments)] = &[
    (
        "py pyi pyw pyx pxd bzl bazel star sh bash dash ksh mksh zsh fish rb rake gemspec pl pm r yaml yml toml conf cfg \
         properties env mk mak cmake ex exs cr nim awk tcl dockerfile containerfile gn gni just po pro \
         gitignore dockerignore editorconfig makefile gnumakefile rakefile gemfile justfile cmakelists.txt build workspace \
         robot feature gd jq coffee requirements.txt",
        comments(&["#"], &[], BOTH),
    ),
    ("ps1 psm1 psd1", comments(&["#"], &[("<#", "#>")], BOTH)),
    ("jl", comments(&["#"], &[("#=", "=#")], DOUBLE)),
    ("nix tf tfvars hcl", comments(&["#", "//"], &[C_BLOCK], DOUBLE)),
    ("php", comments(&["//", "#"], &[C_BLOCK], BOTH)),
    ("js mjs cjs jsx ts mts cts tsx go", comments(&["//"], &[C_BLOCK], ALL)),
    (
        "c h cc cpp cxx hh hpp hxx inl cu m mm java kt kts cs scala sc swift dart groovy gradle proto thrift \
         jsonc json5 d v sv svh glsl hlsl wgsl vert frag zig sol idl qml fbs prisma typ",
        comments(&["//"], &[C_BLOCK], BOTH),
    ),
    ("rs", comments(&["//"], &[C_BLOCK], DOUBLE)),
    ("scss sass less styl", comments(&["//"], &[C_BLOCK], BOTH)),
    ("css", comments(&[], &[C_BLOCK], BOTH)),
    ("fs fsi fsx", comments(&["//"], &[ML_BLOCK], DOUBLE)),
    ("sql psql ddl", comments(&["--"], &[C_BLOCK], BOTH)),
    ("lua luau", comments(&["--"], &[("--[[", "]]")], BOTH)),
    ("hs lhs elm purs dhall agda idr", comments(&["--"], &[("{-", "-}")], DOUBLE)),
    ("ada adb ads vhd vhdl", comments(&["--"], &[], DOUBLE)),
    ("ml mli sml sig", comments(&[], &[ML_BLOCK], DOUBLE)),
    ("pas pp dpr", comments(&["//"], &[("{", "}"), ML_BLOCK], b"'")),
    ("lisp lsp cl el scm ss rkt clj cljs cljc edn fnl", comments(&[";"], &[("#|", "|#")], DOUBLE)),
    ("asm s nasm", comments(&[";", "#", "//"], &[C_BLOCK], DOUBLE)),
    ("ini inf reg", comments(&[";", "#"], &[], DOUBLE)),
    ("ahk", comments(&[";"], &[C_BLOCK], DOUBLE)),
    ("tex sty cls bib ltx", comments(&["%"], &[], b"")),
    ("erl hrl", comments(&["%"], &[], DOUBLE)),
    ("prolog", comments(&["%"], &[C_BLOCK], BOTH)),
    ("matlab octave", comments(&["%", "#"], &[("%{", "%}")], DOUBLE)),
    ("f f90 f95 f03 f08 for ftn", comments(&["!"], &[], BOTH)),
    ("vb vbs bas frm", comments(&["'", "REM"], &[], DOUBLE)),
    ("bat cmd", comments(&["REM", "::"], &[], DOUBLE)),
    ("vim vimrc", comments(&["\""], &[], b"'")),
    (
        "html htm xhtml xml xsd xsl xslt svg rss plist csproj fsproj vbproj props targets xaml md markdown \
         mdx wxs resx",
        comments(&[], &[XML_BLOCK], b""),
    ),
    ("vue svelte astro", comments(&["//"], &[XML_BLOCK, C_BLOCK], BOTH)),
    ("hbs handlebars mustache", comments(&[], &[("{{!--", "--}}"), ("{{!", "}}"), XML_BLOCK], b"")),
    ("j2 jinja jinja2 twig djhtml liquid", comments(&[], &[("{#", "#}"), XML_BLOCK], b"")),
    ("erb ejs", comments(&[], &[("<%#", "%>"), XML_BLOCK], b"")),
    ("jsp aspx cshtml", comments(&[], &[("<%--", "--%>"), ("@*", "*@"), XML_BLOCK], b"")),
    ("graphql gql", comments(&["#"], &[], DOUBLE)),
    ("rst", comments(&[".."], &[], b"")),
    ("adoc asciidoc", comments(&["//"], &[], b"")),
    ("mermaid mmd", comments(&["%%"], &[], DOUBLE)),
    ("cob cbl cpy", comments(&["*>"], &[], BOTH)),
    ("abap", comments(&["\""], &[], b"'`")),
    ("apl", comments(&["⍝"], &[], b"'")),
    ("forth fth 4th", comments(&["\\"], &[("(", ")")], b"")),
    ("wat wast", comments(&[";;"], &[("(;", ";)")], DOUBLE)),
];

impl Comments {
    /// Comments of the code cells of a notebook.
    pub(super) const PYTHON: Self = comments(&["#"], &[], BOTH);

    /// Comments of the file at `path` with this text; `None` if its language is not known.
    pub(super) fn of(path: &WorkspacePath, text: &[u8]) -> Option<Self> {
        let of_script = || by_name(interpreter(path, text)?);
        Self::by_path(path).or_else(of_script)
    }

    fn by_path(path: &WorkspacePath) -> Option<Self> {
        let name = path.file_name()?.to_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        by_name(&name).or_else(|| by_name(extension)).or_else(|| {
            // `Dockerfile.dev`
            let stem = name.split('.').next().unwrap_or_default();
            matches!(stem, "dockerfile" | "containerfile" | "makefile").then_some(Self::PYTHON)
        })
    }
}

fn by_name(name: &str) -> Option<Comments> {
    let has = |names: &str| names.split(' ').any(|it| it == name);
    (!name.is_empty()).then(|| LANGUAGES.iter().find(|(names, _)| has(names)))?.map(|(_, it)| *it)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[track_caller]
    fn check(path: &str, marker: Option<&str>) {
        let comments = Comments::of(&WorkspacePath::new(path).unwrap(), b"#!/bin/sh\n");
        let first = comments.and_then(|it| it.line.first().copied().or(it.block.first().map(|it| it.0)));
        assert_eq!(first, marker, "{path}");
    }

    #[test]
    fn by_extension_or_by_name() {
        check("a/b.py", Some("#"));
        check("a/B.PY", Some("#"));
        check("a.RS", Some("//"));
        check("x.sql", Some("--"));
        check("x.css", Some("/*"));
        check("x.html", Some("<!--"));
        check("x.ml", Some("(*"));
        check("x.el", Some(";"));
        check("x.tex", Some("%"));
        check("x.f90", Some("!"));
        check("x.vbs", Some("'"));
        check("x.bat", Some("REM"));
        check("Makefile", Some("#"));
        check("sub/Dockerfile.dev", Some("#"));
        check("CMakeLists.txt", Some("#"));
        check(".gitignore", Some("#"));
        check("notes.txt", None);
        check("script", Some("#"));
        check("x.json", None);
        check("", None);
    }

    #[test]
    fn each_name_stands_once() {
        let mut seen = BTreeSet::new();
        for name in LANGUAGES.iter().flat_map(|(names, _)| names.split(' ')) {
            assert!(seen.insert(name), "{name} stands twice");
        }
        assert!(seen.len() > 200, "only {}", seen.len());
    }
}
