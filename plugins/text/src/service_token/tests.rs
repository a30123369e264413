//! Tokens that are found, and texts like them that are not. The tokens are put together here, so that no tool takes this file
//! for one that holds them.

use std::path::Path;

use broker_plugin_sdk::Severity;

use super::kinds::KINDS;
use super::{SHORTEST, check};

/// Characters as a generator of secrets draws them.
const RANDOM: &str =
    "q7Xv2LmZ9tRb4KcW8pJd6NhY3sFg5TaQe1VuBw0ExPzCk8MrDy2HfSj7GoLnUi4A9vZt6XqKb3WmRp5Yc0NdJe1TgHs8FuVQ";
const HEX: &str = "7b2e91d4c06fa835e1947bd20c8f63a59e4d17b06c2fa8d3951e7c40b8f2d6a3";

fn found(path: &str, content: &str) -> String {
    let mut found = Vec::new();
    check(Path::new(path), content.as_bytes(), &mut found);
    let told = found.iter().map(|it| format!("{}-{} {}", it.span.start, it.span.end, it.message));
    told.collect::<Vec<_>>().join(", ")
}

/// The first characters of a random text.
fn random(count: usize) -> &'static str {
    &RANDOM[..count]
}

/// A token with a checksum as GitHub's and npm's have it.
fn with_checksum(prefix: &str) -> String {
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let crc = crc32fast::hash(random(30).as_bytes());
    let digit = |power: u32| char::from(digits[(crc / 62u32.pow(power) % 62) as usize]);
    let sum: String = (0..6).rev().map(digit).collect();
    format!("{prefix}_{}{sum}", random(30))
}

#[test]
fn checksums_tell_tokens_from_texts_like_them() {
    let token = with_checksum("ghp");
    let finding = "the file holds a GitHub personal access token";
    assert_eq!(found("a.sh", &format!("T={token}\n")), format!("2-6 {finding}"));
    assert_eq!(found("a.json", &format!("\"a\\n{token}\"")), format!("4-8 {finding}"), "behind an escape");
    assert_eq!(found("a.md", &format!("<https://{token}@github.com>")), format!("9-13 {finding}"));
    assert_eq!(found("a.sh", &token.replace(random(4), "aaa4")), "", "another text");
    assert_eq!(found("a.sh", &format!("{token}0")), "", "too long");
    assert_eq!(found("a.sh", &format!("my{token}")), "", "a part of a word");
    assert_eq!(found(".npmrc", &format!("t={}", with_checksum("npm"))), "2-6 the file holds an npm token");
}

#[test]
fn checksums_of_grafana_and_gitlab() {
    let text = format!("glsa_{}", random(32));
    let sum = crc32fast::hash(text.as_bytes()).swap_bytes();
    let finding = "0-5 the file holds a Grafana service account token";
    assert_eq!(found("a", &format!("{text}_{sum:08x}")), finding);
    assert_eq!(found("a", &format!("{text}_{:08x}", sum ^ 1)), "");
    let text = format!("glpat-{}.01.0", random(40));
    let (mut number, mut sum) = (crc32fast::hash(format!("{text}z").as_bytes()), String::new());
    for _ in 0..7 {
        sum.insert(0, char::from_digit(number % 36, 36).unwrap());
        number /= 36;
    }
    let finding = "0-6 the file holds a GitLab personal access token";
    assert_eq!(found("a", &format!("{text}z{sum}")), finding);
    assert_eq!(found("a", &format!("{text}y{sum}")), "");
}

#[test]
fn shapes() {
    let hex = &HEX[..40];
    for (token, told) in [
        (format!("xoxb-4871936502-6093817254-{}", random(24)), "5 the file holds a Slack bot token"),
        (format!("sk_live_{}", random(24)), "8 the file holds a live secret key of Stripe"),
        (format!("dop_v1_{HEX}"), "7 the file holds a DigitalOcean token"),
        (format!("SG.{}.{}", random(22), &RANDOM[30..73]), "3 the file holds a SendGrid key"),
        (format!("pul-{hex}"), "4 the file holds a Pulumi token"),
        (format!("6184920375:AA{}", random(33)), "10 the file holds a Telegram bot token"),
        (format!("sk-proj-{}T3BlbkFJ{}", random(20), &RANDOM[20..40]), "8 the file holds an OpenAI key"),
        (format!("AccountKey={}==", random(86)), "11 the file holds a key of an Azure storage account"),
    ] {
        assert_eq!(found("a.env", &token), format!("0-{told}"));
        assert_eq!(found("tests/a.env", &token), "", "{token} may be made up");
        assert_eq!(found("a.env", &token[..token.len() - 3]), "", "too short");
    }
}

#[test]
fn structured_tokens() {
    // Two addresses of one site, of which base64 makes the same characters.
    let sites = "jE3MjQyODUyNDksInVybCI6Imh0dHBzOi8vc2VudHJ5LmlvIiwicmVnaW9uX3VybCI6Imh0dHBzOi8vc2VudHJ5LmlvIiwib3JnIjoiYSJ9";
    let payload = |length: usize| format!("{RANDOM}{RANDOM}{RANDOM}{RANDOM}")[..length].to_owned();
    for (token, told) in [
        (format!("sntrys_eyJpYXQiO{sites}_{}", random(43)), "16 the file holds a Sentry token"),
        (format!("sntrys_eyJpYXQiO{sites}==_{}", random(43)), "16 the file holds a Sentry token"),
        (format!("hvb.AAAAAg{}", payload(160)), "4 the file holds a HashiCorp Vault token"),
        (format!("hvs.CAESI{}", payload(90)), "4 the file holds a HashiCorp Vault token"),
        (format!("cmVmdGtuOjAxOjAwMDAwMDAwMDA6{}", random(36)), "10 the file holds an Artifactory token"),
        (format!("glc_eyJ{}==", payload(120)), "7 the file holds a Grafana Cloud token"),
        (format!("sk.eyJ1Ijoi{}.{}", payload(52), random(22)), "11 the file holds a Mapbox secret token"),
    ] {
        assert_eq!(found("a.env", &token), format!("0-{told}"));
    }
    assert_eq!(found("a.env", &format!("sntrys_eyJpYXQiO{sites}_{}", "Ab1".repeat(15))), "", "made up");
    assert_eq!(found("a.env", &format!("hvb.AAAAAg{}{}", payload(100), "A1b".repeat(20))), "", "made up");
}

#[test]
fn an_access_key_needs_its_secret() {
    let id = format!("AKIA{}", "Q4T7WX2MZJ6RNB5K");
    let secret = format!("{}/{}", random(20), &RANDOM[40..59]);
    let finding = "5-9 the file holds an AWS access key with its secret";
    assert_eq!(found("a", &format!("id = {id}\nsecret = {secret}\n")), finding);
    assert_eq!(found("a", &format!("key=\"{id}\"\nSECRET={secret}\n")), finding);
    assert_eq!(found("a", &format!("id = {id}\nsha = {}\n", &HEX[..40])), "", "of Git");
    assert_eq!(found("a", &format!("https://a/?X-Amz-Credential={id}/20240101/eu/s3")), "", "public");
    let id = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    assert_eq!(found("a", &format!("id = {id}\nsecret = {secret}\n")), "", "of the documents");
}

#[test]
fn examples_are_no_tokens() {
    for token in [
        format!("hf_{}", "x".repeat(34)),
        "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".to_owned(),
        format!("glpat-{}", "EXAMPLEab12EXAMPLE34"),
        format!("dckr_pat_{}", "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9"),
        format!("shpat_{}", "0123456789abcdef0123456789abcdef"),
        format!("shpat_{}", "7b2e91d47b2e91d47b2e91d47b2e91d4"),
        format!("sk_test_{}", random(24)),
        format!("AIza{}", random(35)),
    ] {
        assert_eq!(found("a.py", &format!("K = \"{token}\"\n")), "");
    }
}

#[test]
fn what_the_file_says_of_a_token() {
    let token = format!("pul-{}", &HEX[..40]);
    let finding = "2-6 the file holds a Pulumi token";
    assert_eq!(found("a.js", &format!("k={token}\n// an example\n")), finding, "another line");
    assert_eq!(found("a.js", &format!("k={token} // for example\n")), "");
    assert_eq!(found("a.js", &format!("k={token} // gitleaks:allow\n")), "");
    assert_eq!(found("a.js", &format!("k={token}\nr=/pul-[a-f\\d]{{40}}/\n")), "");
    assert_eq!(found("a.js", &format!("k={token}\nr=/[a-f0-9]{{40}}/\n")), finding, "of commits");
    assert_eq!(found("a.js", &format!("oversample({token:?})\n")), finding.replace("2-6", "12-16"));
    let telegram = format!("6184920375:AA{}", random(33));
    let finding = "0-10 the file holds a Telegram bot token";
    assert_eq!(found("a.js", &format!("{telegram}\nv6(1); v6[2]; /6[0-9]{{9}}/")), finding);
}

#[test]
fn tokens_of_tests_are_warnings() {
    let severity = |path: &str| {
        let mut found = Vec::new();
        check(Path::new(path), with_checksum("gho").as_bytes(), &mut found);
        found[0].severity
    };
    assert_eq!(severity("a.go"), Severity::Error);
    assert_eq!(severity("a_test.go"), Severity::Warning);
}

#[test]
fn kinds_are_in_order_and_long_enough() {
    assert!(KINDS.is_sorted_by_key(|it| it.prefix.as_bytes().first()));
    assert!(KINDS.iter().all(|it| it.least_length() >= SHORTEST));
}
