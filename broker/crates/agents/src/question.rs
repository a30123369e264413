//! Questions that checks answer, and which of them include others.

use overlay::WorkspacePath;
use workspaces::TargetId;

/// Question that a check answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) target: TargetId,
    /// Everything if there are none.
    pub(crate) paths: Vec<WorkspacePath>,
    pub(crate) new_only: bool,
}

impl Question {
    /// Whether the answer to this one answers `other`, too.
    pub(crate) fn includes(&self, other: &Self) -> bool {
        let has = |it: &WorkspacePath| self.paths.contains(it);
        let is_whole = self.paths.is_empty();
        self.is_alike(other) && (is_whole || !other.paths.is_empty() && other.paths.iter().all(has))
    }

    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.target == other.target && self.new_only == other.new_only
    }

    pub(crate) fn and(mut self, other: &Self) -> Self {
        match self.paths.is_empty() || other.paths.is_empty() {
            true => self.paths.clear(),
            false => {
                let more: Vec<_> =
                    other.paths.iter().filter(|it| !self.paths.contains(it)).cloned().collect();
                self.paths.extend(more);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(paths: &[&str]) -> Question {
        let paths = paths.iter().map(|it| WorkspacePath::new(it).unwrap()).collect();
        Question { target: TargetId::Branch("1.2".to_owned()), paths, new_only: true }
    }

    #[test]
    fn a_whole_check_answers_for_its_parts() {
        assert!(question(&[]).includes(&question(&["a.py"])));
        assert!(question(&["a.py", "b.py"]).includes(&question(&["b.py"])));
        assert!(!question(&["a.py"]).includes(&question(&["b.py"])));
        assert!(!question(&["a.py"]).includes(&question(&[])));
        let all = Question { new_only: false, ..question(&[]) };
        assert!(!all.includes(&question(&["a.py"])));
    }

    #[test]
    fn questions_are_asked_together() {
        assert_eq!(question(&["a.py"]).and(&question(&["b.py", "a.py"])), question(&["a.py", "b.py"]));
        assert_eq!(question(&["a.py"]).and(&question(&[])), question(&[]));
    }
}
