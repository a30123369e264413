//! Whether the brackets of a text match, as far as counting says.

/// How many more brackets of each kind are opened than closed.
#[derive(PartialEq, Eq)]
pub(super) struct Brackets([isize; 3]);

impl Brackets {
    pub(super) const NONE: Self = Self([0; 3]);

    pub(super) fn of(text: &str) -> Self {
        let mut open = [0; 3];
        for it in text.bytes() {
            match it {
                b'(' => open[0] += 1,
                b')' => open[0] -= 1,
                b'[' => open[1] += 1,
                b']' => open[1] -= 1,
                b'{' => open[2] += 1,
                b'}' => open[2] -= 1,
                _ => {}
            }
        }
        Self(open)
    }
}
