//! Findings for bash's commands in `RUN`.

use super::check;

#[test]
fn commands_of_bash() {
    let run = |script: &str| check(&format!("FROM ubuntu:24.04\nRUN {script}\n"));
    assert_eq!(run("if [[ -d /a ]]; then b; fi"), "2 SC3010 \"[[\"");
    assert_eq!(run("a && source ./b && c"), "2 SC3046 \"source\"");
    assert_eq!(run("cd a; pushd b; x=$(popd)"), "2 SC3044 \"pushd\", 2 SC3044 \"popd\"");
    for script in [
        "[ -d /a ] && . ./b",
        "bash -c '[[ -d /a ]]; source b'",
        "echo [[ source pushd # [[ a ]]",
        "source ./a || . ./a",
        "command -v pushd && pushd /a",
    ] {
        assert_eq!(run(script), "", "{script}");
    }
    assert_eq!(check("FROM ubuntu:24.04\nRUN [\"bash\", \"-c\", \"[[ a ]]\"]\n"), "");
}

#[test]
fn where_the_shell_is_dash() {
    let from = |lines: &str| check(&format!("FROM {lines}\nRUN source a\n"));
    for lines in ["debian:12-slim", "docker.io/library/ubuntu:22.04", "node:20-bookworm-slim", "debian:$V"] {
        assert!(from(lines).contains("SC3046"), "{lines}: {}", from(lines));
    }
    assert!(from("debian:12 AS a\nFROM a").contains("SC3046"));
    assert!(from("debian:12\nSHELL [\"/bin/sh\", \"-c\"]").contains("SC3046"));
    for lines in [
        "alpine:3",
        "centos:7",
        "me/debian:12",
        "python:3",
        "debian:12\nSHELL [\"/bin/bash\", \"-c\"]",
        "debian:12\nRUN ln -sf bash /bin/sh",
        "debian:12 AS a\nSHELL [\"bash\", \"-c\"]\nFROM a",
    ] {
        assert!(!from(lines).contains("SC30"), "{lines}: {}", from(lines));
    }
}

#[test]
fn releases() {
    let from = |image: &str| check(&format!("FROM {image}\nRUN source a\n"));
    for image in
        ["ruby:2.1-wheezy", "php:5-jessie", "golang:1.13-stretch", "swift:5-bionic", "ros:foxy-focal"]
    {
        assert_eq!(from(image), "2 SC3046 \"source\"", "{image}");
    }
    for image in ["ruby:2.1", "php:7-alpine3.9", "me/php:5-jessie", "php:5-jessie2"] {
        assert_eq!(from(image), "", "{image}");
    }
}

/// `/bin/sh` is another shell where something is put in its place, and not where a script names it.
#[test]
fn where_another_shell_is_put() {
    let after = |lines: &str| check(&format!("FROM debian:13\n{lines}\nRUN source a\n"));
    for lines in [
        "RUN echo '#!/bin/sh' > /usr/bin/start",
        "RUN printf '#!/bin/sh\\nln -s a /bin/b\\n' | tee /start",
        "RUN /bin/sh -c 'a'; sed -i 's,/bin/sh,/bin/bash,' /etc/passwd",
        "RUN cp /bin/sh /bin/sh.old",
        "RUN mv a.sh /rootfs/bin/sh",
        "RUN dpkg-reconfigure tzdata",
        "RUN cat <<E >/start\n#!/bin/sh\nE",
        "RUN [\"/bin/sh\", \"-c\", \"a\"]",
        "COPY a /bin/start",
        "ONBUILD RUN ln -sf bash /bin/sh",
    ] {
        assert!(after(lines).contains("SC3046"), "{lines}: {}", after(lines));
    }
    for lines in [
        "RUN rm /bin/sh && sudo ln -s /bin/bash /bin/sh",
        "RUN mv /bin/bash /usr/bin/sh",
        "RUN cp -f /opt/sh /bin/",
        "RUN cd /bin; ln -sf bash sh",
        "RUN DEBIAN_FRONTEND=noninteractive dpkg-reconfigure -p low dash",
        "RUN update-alternatives --install /bin/sh sh /bin/bash 1",
        "RUN bash -c \"ln -sf /bin/bash /bin/sh\"",
        "RUN [\"/bin/bash\", \"-c\", \"rm /bin/sh; ln -s bash /bin/sh\"]",
        "RUN [\"ln\", \"-sf\", \"bash\", \"/bin/sh\"]",
        "RUN <<E\nset -e\nln -sf \\\n  bash /bin/sh\nE",
        "COPY --from=a /bin/bash /bin/sh",
        "ADD [\"bash\", \"/bin/sh\"]",
    ] {
        assert!(!after(lines).contains("SC30"), "{lines}: {}", after(lines));
    }
    let based = "FROM debian:13 AS a\nRUN ln -sf bash /bin/sh\nFROM a AS b\nFROM b\nRUN source x\n";
    assert!(!check(based).contains("SC30"));
    assert!(check(&based.replace("ln", "echo")).contains("SC3046"));
}
