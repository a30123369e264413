"""Trees and commits of a git repository, without a work tree of its own."""

import os
import subprocess


class History:
    def __init__(self, repository, work):
        """Clones the repository, as `FOLDER` or `FOLDER@REVISION`, into the folder `work`, where commits may be added."""
        repository, _, revision = repository.partition("@")
        self.git_dir = os.path.join(work, "git")
        self.index = os.path.join(work, "index")
        if not os.path.exists(self.git_dir):
            subprocess.run(["git", "clone", "-q", "--bare", repository, self.git_dir], check=True)
            self.git("update-ref", "refs/heads/bench", revision or "HEAD")
            self.git("symbolic-ref", "HEAD", "refs/heads/bench")
        self.texts = {}

    def git(self, *arguments, check=True, **options):
        command = ["git", "-C", self.git_dir, *arguments]
        done = subprocess.run(command, capture_output=True, check=False, **options)
        if check and done.returncode:
            raise RuntimeError(f"{command}: {done.stderr.decode(errors='replace')}")
        return done

    def lines(self, *arguments):
        return self.git(*arguments).stdout.decode(errors="replace").splitlines()

    def commits(self, limit, paths):
        """Commits with one parent that change such paths, the newest first, each with its parent."""
        found = self.lines("log", "--no-merges", f"--max-count={limit}", "--format=%H %P", "HEAD", "--", *paths)
        return [it.split() for it in found if len(it.split()) == 2]

    def tree(self, commit):
        return self.lines("rev-parse", commit + "^{tree}")[0]

    def files(self, commit, suffix):
        """Paths with this ending and what they hold, by name of the content."""
        found = {}
        for line in self.lines("ls-tree", "-r", commit):
            about, path = line.split("\t", 1)
            mode, kind, content = about.split()
            if kind == "blob" and mode != "120000" and path.endswith(suffix):
                found[path] = content
        return found

    def text(self, content):
        if content not in self.texts:
            self.texts[content] = self.git("cat-file", "blob", content).stdout.decode(errors="replace")
        return self.texts[content]

    def changed(self, commit, suffix):
        """Files that a commit changes: status, path before, path after."""
        found = []
        for line in self.lines("diff-tree", "-r", "-M", "--no-commit-id", "--name-status", commit):
            status, *paths = line.split("\t")
            if any(it.endswith(suffix) for it in paths):
                found.append((status[0], paths[0], paths[-1]))
        return found

    def with_files(self, parent, texts):
        """A commit on `parent` with these texts, by path."""
        environment = {**os.environ, "GIT_INDEX_FILE": self.index}
        self.git("read-tree", parent, env=environment)
        for path, text in texts.items():
            content = self.git("hash-object", "-w", "--stdin", input=text.encode()).stdout.decode().strip()
            self.git("update-index", "--add", "--cacheinfo", f"100644,{content},{path}", env=environment)
        return self.commit(self.git("write-tree", env=environment).stdout.decode().strip(), parent)

    def commit(self, tree, parent):
        fixed = {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}
        names = {f"GIT_{who}_{what}": "bench" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = {**os.environ, **fixed, **names}
        return self.git("commit-tree", tree, "-p", parent, "-m", "x", env=environment).stdout.decode().strip()

    def moved(self, commit, parent):
        """The change of a commit on another parent, as a commit; `None` if it does not apply."""
        # A clone need not have all contents.
        done = self.git("diff-tree", "-p", "--binary", commit, check=False)
        if done.returncode:
            return None
        patch, environment = done.stdout, {**os.environ, "GIT_INDEX_FILE": self.index}
        self.git("read-tree", parent, env=environment)
        if self.git("apply", "--cached", "-", check=False, input=patch.partition(b"\n")[2], env=environment).returncode:
            return None
        return self.commit(self.git("write-tree", env=environment).stdout.decode().strip(), parent)

    def merge(self, a, b):
        """The tree of a merge; `None` if lines conflict."""
        done = self.git("merge-tree", "--write-tree", a, b, check=False)
        return None if done.returncode else done.stdout.decode().split()[0]

    def patch(self, parent, commit):
        return self.git("diff", "--binary", "--no-renames", "--full-index", parent, commit).stdout

    def put(self, tree, folder):
        """Makes the folder hold the tree."""
        os.makedirs(folder, exist_ok=True)
        environment = {**os.environ, "GIT_INDEX_FILE": folder + ".index"}
        self.git("--work-tree", folder, "read-tree", "-u", "--reset", tree, env=environment)
