//! Findings for pipes.

use super::check;

/// DL4006: a group fails as what is in it does.
#[test]
fn groups_and_pipes() {
    let run = |script: &str| check(&format!("FROM a:1\nRUN {script}\n"));
    for script in [
        "{ printf 1; { echo 2; }; true; } 2>&1 | c",
        "(echo a; echo b) | c",
        "( (echo a); x=1; echo $x ) >&2 | c",
        "for i in 1 2; do echo $i; done | c",
        "if a; then echo b; elif c; then echo d; else echo e; fi | f",
        "while read x; do echo $x; done </f | c",
        "case $a in (b|c) echo b;; *) echo d; esac | e",
        "case $a in b) echo b;; esac | e",
        "{ a || true; echo b; } | c",
        "a && { echo b; } | c",
        "f() { echo; }; { echo a; } | c",
        "{ echo a <(b); } && { echo }; echo '}'; } | c",
    ] {
        assert_eq!(run(script), "", "{script}");
    }
    for script in [
        "{ echo a; b; } | c",
        "(echo a && b) | c",
        "{ x=$(a); echo $x; } | c",
        "{ echo a | b; } | c",
        "{ a || b; } | c",
        "for i in 1; do a $i; done | c",
        "if a; then b; fi | c",
        "case $a in b) c;; *) echo;; esac | d",
        "{ (a); } | c",
        "{ echo a; } && b | c",
        "echo } | { b | c; }",
        "{ echo a; } | b | c",
        "{ echo a; exit 1; } | c",
        "a <(echo b) | c",
    ] {
        assert_eq!(run(script), "2 DL4006 \"|\"", "{script}");
    }
}

/// DL4006: what fails without input stops the build anyhow.
#[test]
fn commands_that_need_input() {
    let run = |script: &str| check(&format!("FROM a:1\nRUN {script}\n"));
    for script in [
        "wget -O- a | tar xJ -C /opt",
        "wget -O- a | tar -C /opt --strip-components=1 -xf -",
        "wget -O- a | sudo -u b /bin/tar --extract --file=- --gzip && b",
        "wget -O- a | gunzip >b",
        "wget -O- a | xz -dc | tar t",
        "wget -O- a | busy | unzip -",
        "wget -O- a | (mkdir b; cd b && tar zxvf -)",
        "wget -O- a | { cd b && bzcat - && c; }",
        "lsmod | grep -i -A 2 fuse",
        "lsmod | egrep -e fuse -",
        "wget -O- a | gpg --yes -o /k --dearmor && b",
        "wget -O- a | apt-key add -",
        "grep b sums | sha256sum -c -",
        "grep b sums | shasum -a 512 --check",
        "if lsmod | grep a; then b; fi",
    ] {
        assert_eq!(run(script), "", "{script}");
    }
    for script in [
        "wget -O- a | sh",
        "wget -O- a | sha256sum",
        "ls | md5sum -c sums",
        "ls | tar c",
        "ls | tar cf x -T -",
        "ls | tar xf b",
        "wget -O- a | tar x | b",
        "wget -O- a | tar x && b | c",
        "wget -O- a | (cd b || tar x)",
        "wget -O- a | (tar x; true)",
        "wget -O- a | (tar x &)",
        "wget -O- a | if b; then tar x; fi",
        "lsmod | grep -v fuse",
        "lsmod | grep --count fuse",
        "lsmod | grep fuse file",
        "ls | gzip",
        "a | gunzip -cf",
        "a | gunzip b",
        "a | gpg --dearmor b",
        "a | unzip b",
    ] {
        assert_eq!(run(script), "2 DL4006 \"|\"", "{script}");
    }
}

/// DL4006: only the last substitution of an assignment is a command's status.
#[test]
fn pipes_in_substitutions() {
    let run = |script: &str| check(&format!("FROM a:1\nRUN {script}\n"));
    for script in [
        "[ -d \"$(ls | head -n1)\" ] && b",
        "export V=$(ls | head -n1)",
        "V=`ls | head -n1` make",
        "V=$(basename $(ls | head -n1)) && b",
        "V=$(ls | head -n1)$(b)",
        "V=$(ls | head -n1) W=$(b)",
        "for it in $(ls | sort); do b; done",
        "a <(ls | sort)",
        "echo a >$(ls | sort)",
        "[[ $(ls | sort) ]]",
        "case `ls | sort` in a) b;; esac",
    ] {
        assert_eq!(run(script), "", "{script}");
    }
    for script in [
        "V=$(ls | sort)",
        "V=\"$(ls | sort)\" && b",
        "if V=`ls | sort`; then b; fi",
        "V=$(a)$(ls | sort) >c",
        "V=$(ls | sort) W=1",
        "echo $(a) $(V=1) && { V=$(W=$(ls | sort)); }",
        "b $(ls | sort) | c",
    ] {
        assert_eq!(run(script), "2 DL4006 \"|\"", "{script}");
    }
}

/// DL4006: what is quoted is no command.
#[test]
fn pipes_in_quotes() {
    let run = |script: &str| check(&format!("FROM a:1\nRUN {script}\n"));
    for script in [
        "V='$(ls | sort)'",
        "V=a'`ls | sort`'",
        "V=\\$\\(ls\\)",
        "V=\"\\$(ls | sort) \\`ls | sort\\`\"",
        "{ V='(a)'; echo $V; } | c",
        "{ V=$((1+2)); echo $V; } | c",
    ] {
        assert_eq!(run(script), "", "{script}");
    }
    for script in ["V=\"'$(ls | sort)'\"", "V='a'$(ls | sort)", "V=\"it's `ls | sort`\""] {
        assert_eq!(run(script), "2 DL4006 \"|\"", "{script}");
    }
}
